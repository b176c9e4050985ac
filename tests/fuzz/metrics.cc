// Lines of metrics.jsonl (run/records/metrics.h).
#include "run/records/metrics.h"

#include <glog/logging.h>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

template <typename Metrics, typename Read>
void Check(std::string_view line, Read read) {
  const auto metrics = read(line);
  if (!metrics.ok()) {
    CHECK(!metrics.status().message().empty());
    return;
  }
  const std::string text = ToJsonLine(*metrics);
  const auto again = read(text);
  CHECK(again.ok()) << again.status() << text;
  CHECK_EQ(ToJsonLine(*again), text);
}

FUZZ_TARGET(metrics) {
  Check<RunMetrics>(fuzz::Text(data, size), RunMetricsFromJson);
  Check<NodeMetrics>(fuzz::Text(data, size), NodeMetricsFromJson);
}

}  // namespace
}  // namespace grapevine
