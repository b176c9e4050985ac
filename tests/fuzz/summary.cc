// summary.json (run/records/metrics.h).
#include <glog/logging.h>

#include "run/records/metrics.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

void Play(const uint8_t* data, size_t size) {
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

const fuzz::Target target("summary", Play);

}  // namespace
}  // namespace grapevine
