#include "cli/conclusion.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "run/units.h"

namespace grapevine {

std::string Conclusion(const Summary& summary) {
  std::string text = absl::StrFormat("%s after %d rounds (%.4g epochs)", summary.stopped,
                                     summary.rounds, summary.epochs);
  if (summary.wall_time_s) absl::StrAppend(&text, ", ", HumanDuration(*summary.wall_time_s));
  if (summary.simulated_time_s) {
    absl::StrAppend(&text, ", ", HumanDuration(*summary.simulated_time_s), " simulated");
  }
  if (summary.bytes_sent_total) {
    absl::StrAppend(&text, ", ", HumanSize(static_cast<double>(*summary.bytes_sent_total)),
                    " sent");
  }
  if (summary.test_accuracy) {
    absl::StrAppendFormat(&text, "\ntest accuracy of the averaged model: %.2f %%",
                          100 * *summary.test_accuracy);
  }
  if (summary.local_test_accuracy) {
    absl::StrAppendFormat(&text, " (nodes' own models: %.2f to %.2f %%)",
                          100 * summary.local_test_accuracy->min,
                          100 * summary.local_test_accuracy->max);
  }
  return text;
}

}  // namespace grapevine
