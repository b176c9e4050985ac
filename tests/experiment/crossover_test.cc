#include <gtest/gtest.h>

#include "experiment/advice/advice.h"

namespace grapevine {
namespace {

TEST(VerdictOf, KnowsATie) {
  EXPECT_EQ(VerdictOf(1.06), Verdict::kGossip);
  EXPECT_EQ(VerdictOf(1.04), Verdict::kTie);
  EXPECT_EQ(VerdictOf(0.96), Verdict::kTie);
  EXPECT_EQ(VerdictOf(0.94), Verdict::kCentralized);
}

TEST(FindCrossovers, BisectsWhereTheVerdictChanges) {
  // 1 at 300, 1.05 at 315, 1/1.05 at 285.7.
  const auto search =
      FindCrossovers(1, 1e5, [](double x) -> absl::StatusOr<double> { return x / 300; });
  ASSERT_TRUE(search.ok());
  ASSERT_EQ(search->crossovers.size(), 1u);  // the tie lies between two points of the scan
  const Crossover& crossover = search->crossovers[0];
  EXPECT_NEAR(crossover.at, 286, 0.02 * 286);
  EXPECT_EQ(crossover.below, Verdict::kCentralized);
  EXPECT_EQ(crossover.above, Verdict::kGossip);
  EXPECT_DOUBLE_EQ(search->advantage_low, 1.0 / 300);
  EXPECT_NEAR(search->advantage_high, 1e5 / 300, 1e-6);
}

TEST(FindCrossovers, SaysThatThereIsNone) {
  const auto search = FindCrossovers(1, 1e5, [](double) -> absl::StatusOr<double> { return 2.0; });
  ASSERT_TRUE(search.ok());
  EXPECT_TRUE(search->crossovers.empty());
  EXPECT_EQ(search->advantage_low, 2);
}

TEST(FindCrossovers, FindsAStretchOfTies) {
  const auto search =
      FindCrossovers(1, 1e5, [](double x) -> absl::StatusOr<double> { return x < 20 ? 2.0 : 1.0; });
  ASSERT_TRUE(search.ok());
  ASSERT_EQ(search->crossovers.size(), 1u);
  EXPECT_NEAR(search->crossovers[0].at, 20, 0.4);
  EXPECT_EQ(search->crossovers[0].above, Verdict::kTie);
}

TEST(FindCrossovers, PassesErrorsOn) {
  const auto search = FindCrossovers(
      1, 10, [](double) -> absl::StatusOr<double> { return absl::CancelledError("interrupted"); });
  EXPECT_EQ(search.status().message(), "interrupted");
}

}  // namespace
}  // namespace grapevine
