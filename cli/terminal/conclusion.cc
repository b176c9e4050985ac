#include "cli/terminal/conclusion.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/units.h"

namespace grapevine {
namespace {

std::string TargetText(const TargetAccuracy& target) {
  std::string text = absl::StrFormat("target accuracy of %.4g %%", 100 * target.accuracy);
  if (!target.met) return absl::StrCat(text, " not met\n");
  absl::StrAppendFormat(
      &text, " met in round %d (%.4g epochs) after %s: %.2f %%, the model that is kept\n",
      target.round.value_or(0), target.epoch.value_or(0), HumanDuration(target.time_s.value_or(0)),
      100 * target.test_accuracy.value_or(0));
  return text;
}

}  // namespace

std::string Conclusion(const Summary& summary) {
  std::string text = summary.target ? TargetText(*summary.target) : "";
  const bool stopped = summary.target && summary.target->met;
  absl::StrAppendFormat(&text, "%s after %d rounds (%.4g epochs)",
                        stopped ? "stopped" : summary.stopped, summary.rounds, summary.epochs);
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
