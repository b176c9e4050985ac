#include "report/sweep_winners.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/records/metrics.h"

namespace grapevine {
namespace {

using Coordinates = std::vector<std::pair<std::string, std::string>>;

SweepRow Took(Coordinates coordinates, double seconds) {
  Summary summary;
  summary.simulated_time_s = seconds;
  return {std::move(coordinates), summary};
}

SweepRow Reached(Coordinates coordinates, double seconds, double accuracy) {
  SweepRow row = Took(std::move(coordinates), seconds);
  row.summary->test_accuracy = accuracy;
  return row;
}

TEST(SweepWinners, OneLineForEachConditionUnderWhichSomethingWasChosen) {
  std::vector<SweepRow> rows;
  for (const auto& [latency, ring] : {std::pair{"1ms", 4.0}, {"10ms", 1.0}}) {
    rows.push_back(Took({{"latency", latency}, {"topology", "ring"}, {"lr", "0.1"}}, ring));
    rows.push_back(Took({{"latency", latency}, {"topology", "torus"}, {"lr", "0.1"}}, 2));
    rows.push_back(Took({{"latency", latency}, {"topology", "star"}, {"lr", "0.1"}}, 9));
  }
  EXPECT_EQ(SweepWinners(rows),
            "least time, latency=1ms: torus, lr=0.1, 2.00 s (ring, lr=0.1: 4.00 s, 2.00 ×)\n"
            "least time, latency=10ms: ring, lr=0.1, 1.00 s (torus, lr=0.1: 2.00 s, 2.00 ×)\n");
}

TEST(SweepWinners, WhereNothingWasChosenNothingWins) {
  EXPECT_EQ(SweepWinners({Took({{"nodes", "4"}}, 1), Took({{"nodes", "8"}}, 2)}), "");
}

TEST(SweepWinners, SeedsAreAveragedAndTheFailedLeftOut) {
  const SweepRow failed = {{{"topology", "star"}, {"seed", "2"}}, absl::AbortedError("diverged")};
  EXPECT_EQ(SweepWinners({Took({{"topology", "ring"}, {"seed", "1"}}, 1),
                          Took({{"topology", "ring"}, {"seed", "2"}}, 7),
                          Took({{"topology", "torus"}, {"seed", "1"}}, 2),
                          Took({{"topology", "torus"}, {"seed", "2"}}, 4),
                          Took({{"topology", "star"}, {"seed", "1"}}, 0.1), failed}),
            "least time: torus, 3.00 s (ring: 4.00 s, 1.33 ×)\n");
}

TEST(SweepWinners, TheBestAccuracyNeedNotBeTheFastest) {
  EXPECT_EQ(SweepWinners({Reached({{"topology", "ring"}}, 1, 0.875),
                          Reached({{"topology", "complete"}}, 3, 0.9915)}),
            "least time: ring, 1.00 s (complete: 3.00 s, 3.00 ×)\n"
            "best accuracy: complete, 99.15 % (ring: 87.50 %)\n");
}

TEST(SweepWinners, WithATargetItIsWhoGetsThere) {
  SweepRow ring = Took({{"topology", "ring"}}, 1), torus = Took({{"topology", "torus"}}, 2);
  ring.summary->target = TargetAccuracy{.accuracy = 0.9, .met = false};
  torus.summary->target = TargetAccuracy{.accuracy = 0.9, .met = true, .round = 9, .time_s = 1.5};
  EXPECT_EQ(SweepWinners({ring, torus}),
            "first at the target: torus, 1.50 s; no other gets there\n");
  torus.summary->target->met = false;
  EXPECT_EQ(SweepWinners({ring, torus}), "") << "nobody does";
}

}  // namespace
}  // namespace grapevine
