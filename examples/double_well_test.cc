// The gradient of the double well is the slope of its loss, and nodes see it tilted.
#include <gtest/gtest.h>

#include <vector>

#include "base/status.h"
#include "model/problem/problem.h"

namespace grapevine {
namespace {

absl::StatusOr<std::unique_ptr<Problem>> Make(const char* text) {
  ASSIGN_OR_RETURN(const auto named, Problems().Read(text));
  return named.kind->make(named.spec, {.nodes = 2});
}

TEST(DoubleWell, ItsGradientIsTheSlopeOfItsLoss) {
  const auto problem = *Make("double-well:dim=3:tilt=0.25");
  const auto objectives = *problem->MakeObjectives(0, 2, {});
  for (const double tilt : {0.25, -0.25}) {
    Objective& objective = *objectives[tilt > 0 ? 0 : 1];
    const std::vector<float> at = {-1.5f, 0.0f, 0.75f};
    std::vector<float> gradient(3), unused(3);
    ASSERT_TRUE(objective.Gradient(at.data(), 0, gradient.data()).ok());
    EXPECT_FLOAT_EQ(gradient[1], tilt);
    for (size_t i = 0; i < at.size(); ++i) {
      constexpr float kStep = 1e-2f;
      std::vector<float> below = at, above = at;
      below[i] -= kStep;
      above[i] += kStep;
      const double rise = *objective.Gradient(above.data(), 0, unused.data()) -
                          *objective.Gradient(below.data(), 0, unused.data());
      EXPECT_NEAR(gradient[i], rise / (2 * kStep), 1e-3) << i;
    }
  }
}

TEST(DoubleWell, SeesNoDataAndRefusesWhatItDoesNotKnow) {
  EXPECT_FALSE(SeesData("double-well:dim=3"));
  EXPECT_TRUE(Learns("double-well"));
  EXPECT_EQ(FailureOf(Make("double-well:depth=3").status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine
