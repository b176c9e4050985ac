// summary.json (run/records/summary.h).
#include "run/records/summary.h"

#include <glog/logging.h>

#include "tests/fuzz/fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapevine;  // NOLINT(build/namespaces)
  const auto summary = SummaryFromJson(fuzz::Text(data, size));
  if (!summary.ok()) {
    CHECK(!summary.status().message().empty());
    return 0;
  }
  const std::string text = ToJsonText(*summary);
  const auto again = SummaryFromJson(text);
  CHECK(again.ok()) << again.status() << text;
  CHECK_EQ(ToJsonText(*again), text);
  return 0;
}
