// Sizes, rates, times and shares (base/units.h).
#include "base/units.h"

#include <glog/logging.h>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

// What is understood is written so that it is understood alike.
template <typename Parse, typename Format>
void Check(std::string_view text, Parse parse, Format format) {
  const auto value = parse(text);
  if (!value.ok()) {
    fuzz::RequireClass(value.status(), Failure::kUsage);
    return;
  }
  const auto again = parse(format(*value));
  CHECK(again.ok()) << again.status();
  CHECK(*again == *value) << text;
}

FUZZ_TARGET(units) {
  const std::string_view text = fuzz::Text(data, size);
  Check(text, ParseSize, FormatSize);
  Check(text, ParseBandwidth, FormatBandwidth);
  Check(text, ParseDuration, FormatDuration);
  if (const auto fraction = ParseFraction(text); fraction.ok()) {
    CHECK(*fraction >= 0 && *fraction <= 1) << text;
  }
}

}  // namespace
}  // namespace grapevine
