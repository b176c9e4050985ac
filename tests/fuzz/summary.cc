// summary.json (run/records/metrics.h).
#include <glog/logging.h>

#include "run/records/metrics.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(summary) {
  const auto summary = SummaryFromJson(fuzz::Text(data, size));
  if (!summary.ok()) {
    CHECK(!summary.status().message().empty());
    return;
  }
  const std::string text = ToJsonText(*summary);
  const auto again = SummaryFromJson(text);
  CHECK(again.ok()) << again.status() << text;
  CHECK_EQ(ToJsonText(*again), text);
}

}  // namespace
}  // namespace grapevine
