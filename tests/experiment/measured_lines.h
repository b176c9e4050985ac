// What a run has measured, but for clocks: to compare worlds.
#ifndef GRAPEVINE_TESTS_EXPERIMENT_MEASURED_LINES_H_
#define GRAPEVINE_TESTS_EXPERIMENT_MEASURED_LINES_H_

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "run/records/metrics.h"
#include "tests/testing/file_text.h"

namespace grapevine {

// One for each line of RUN/metrics.jsonl that is not an evaluation alone.
inline std::vector<std::string> MeasuredLines(const std::string& run) {
  std::vector<std::string> kept;
  std::istringstream file(testing::FileText(run + "/metrics.jsonl"));
  for (std::string line; std::getline(file, line);) {
    const RunMetrics metrics = *RunMetricsFromJson(line);
    if (!metrics.train_loss) continue;
    kept.push_back(absl::StrFormat("%d: epoch %.6f, loss %.5f, rate %.6f", metrics.round,
                                   metrics.epoch, *metrics.train_loss,
                                   metrics.learning_rate.value_or(-1)));
  }
  return kept;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_EXPERIMENT_MEASURED_LINES_H_
