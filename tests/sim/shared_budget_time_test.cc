// A budget of gradients that simulated nodes share.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "tests/sim/timed_run.h"

namespace grapevine::testing {
namespace {

class Watch final : public SimObserver {
 public:
  explicit Watch(Rank nodes) : gradients(nodes), cuts(nodes) {}

  void OnGradient(const GradientTimes& gradient) override { ++gradients[gradient.rank]; }
  absl::Status OnCut(const CutTimes& cut, Vec) override {
    cuts[cut.rank].push_back(cut);
    return absl::OkStatus();
  }
  int64_t all() const { return std::accumulate(gradients.begin(), gradients.end(), int64_t{0}); }

  std::vector<int64_t> gradients;
  std::vector<std::vector<CutTimes>> cuts;
};

TEST(SimulatedBudget, IsUsedUpExactlyAndMeasuredInEveryNominalRound) {
  for (const Rank n : {1, 2, 3, 5, 8}) {
    for (const Round rounds : {1, 2, 40}) {
      SCOPED_TRACE(::testing::Message() << n << " nodes, " << rounds << " rounds");
      Watch watch(n);
      TimedRun run{.algorithm = "solo",
                   .nodes = n,
                   .rounds = rounds,
                   .elements = 4,
                   .compute = std::make_shared<OneIsSlow>(0),
                   .observer = &watch};
      run.Ended();
      EXPECT_EQ(watch.all(), rounds * n);
      for (const std::vector<CutTimes>& cuts : watch.cuts) {
        ASSERT_EQ(cuts.size(), static_cast<size_t>(rounds));
        for (Round round = 1; round <= rounds; ++round) EXPECT_EQ(cuts[round - 1].round, round);
      }
    }
  }
}

TEST(SimulatedBudget, ASlowNodeDoesLessAndHoldsNobodyUp) {
  constexpr Rank kNodes = 8;
  constexpr Round kRounds = 200;
  Watch watch(kNodes);
  TimedRun run{.algorithm = "solo",
               .nodes = kNodes,
               .rounds = kRounds,
               .elements = 4,
               .compute = std::make_shared<OneIsSlow>(0),
               .observer = &watch};
  const std::vector<Nanoseconds> ended = run.Ended();
  EXPECT_LE(ended[0] - *std::max_element(ended.begin() + 1, ended.end()), kSlowness * kGradient);
  EXPECT_NEAR(watch.gradients[0] * kSlowness, watch.gradients[1], kSlowness);
  // As fast as all of them can be together, but for the last step.
  const double rate = (kNodes - 1) + 1.0 / kSlowness;
  EXPECT_LE(static_cast<double>(run.Last()),
            kGradient * (kRounds * kNodes / rate + static_cast<double>(kSlowness)));
}

}  // namespace
}  // namespace grapevine::testing
