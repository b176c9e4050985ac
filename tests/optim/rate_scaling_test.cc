#include <string>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "optim/learning_rate.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

TEST(RateScalingTest, NoneIsNone) { EXPECT_FALSE(ScaleRate("none", 4096)->has_value()); }

TEST(RateScalingTest, LinearDividesByTheBase) {
  EXPECT_DOUBLE_EQ((*ScaleRate("linear", 4096))->factor, 16);
  EXPECT_DOUBLE_EQ((*ScaleRate("linear", 4096))->base, 256);
  EXPECT_DOUBLE_EQ((*ScaleRate("linear:base=64", 16))->factor, 0.25);
}

TEST(RateScalingTest, SqrtTakesTheRoot) {
  EXPECT_DOUBLE_EQ((*ScaleRate("sqrt", 4096))->factor, 4);
  EXPECT_DOUBLE_EQ((*ScaleRate("sqrt:base=128", 32))->factor, 0.5);
}

TEST(RateScalingTest, ErrorsNameTheSpecAndWhatIsKnown) {
  const auto refusal = [](const std::string& spec) {
    const absl::Status status = ScaleRate(spec, 256).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("linaer"),
            "linaer: unknown scaling 'linaer'; known: linear[:base=256], none, sqrt[:base=256]");
  EXPECT_THAT(refusal("linear:base=0"), HasSubstr("base: 0 is less than 1"));
  EXPECT_THAT(refusal("none:base=256"), HasSubstr("unknown option 'base'"));
}

}  // namespace
}  // namespace grapevine
