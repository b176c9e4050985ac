#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "run/timing/compute_time.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

Stragglers StragglersOf(const std::string& spec, Rank nodes = 8, std::vector<std::string> slow = {},
                        uint64_t seed = 5) {
  const auto made = Stragglers::Make(spec, slow, nodes, seed);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

std::string ErrorOf(const std::string& spec, std::vector<std::string> slow = {}) {
  const absl::Status status = Stragglers::Make(spec, slow, 8, 1).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << spec;
  return std::string(status.message());
}

TEST(Stragglers, NoneAreNone) {
  EXPECT_TRUE(Stragglers().none());
  EXPECT_TRUE(StragglersOf("none").none());
  EXPECT_EQ(StragglersOf("none").Factor(7, 3), 1);
}

TEST(Stragglers, OneRankIsSlowAlways) {
  const Stragglers stragglers = StragglersOf("rank=3:factor=5");
  EXPECT_FALSE(stragglers.none());
  for (Round round : {0, 1, 1000}) {
    EXPECT_EQ(stragglers.Factor(3, round), 5);
    EXPECT_EQ(stragglers.Factor(2, round), 1);
  }
}

TEST(Stragglers, AFractionIsASeededChoice) {
  constexpr Rank kNodes = 1000;
  const auto chosen = [](uint64_t seed) {
    std::vector<Rank> ranks;
    const Stragglers stragglers = StragglersOf("fraction=0.1:factor=3", kNodes, {}, seed);
    for (Rank rank = 0; rank < kNodes; ++rank) {
      EXPECT_EQ(stragglers.Factor(rank, 0), stragglers.Factor(rank, 77));
      if (stragglers.Factor(rank, 0) == 3) ranks.push_back(rank);
    }
    return ranks;
  };
  EXPECT_EQ(chosen(1).size(), 100u);
  EXPECT_EQ(chosen(1), chosen(1));
  EXPECT_NE(chosen(1), chosen(2));
  // At least one where the fraction of few nodes rounds to none.
  int slow = 0;
  for (Rank rank = 0; rank < 4; ++rank)
    slow += StragglersOf("fraction=0.1:factor=3", 4).Factor(rank, 0) > 1;
  EXPECT_EQ(slow, 1);
}

TEST(Stragglers, TransientOnesComeWithTheirProbability) {
  constexpr int kDraws = 200'000;
  const Stragglers stragglers = StragglersOf("p=0.05:factor=4");
  std::printf("seed 5\n");
  int slow = 0;
  int slow_twice = 0;
  for (Round round = 0; round < kDraws; ++round) {
    const bool now = stragglers.Factor(1, round) == 4;
    EXPECT_TRUE(now || stragglers.Factor(1, round) == 1);
    slow += now;
    slow_twice += now && stragglers.Factor(1, round + 1) == 4;
  }
  EXPECT_NEAR(slow, 0.05 * kDraws, 4 * std::sqrt(0.05 * kDraws));
  EXPECT_NEAR(slow_twice, 0.0025 * kDraws, 4 * std::sqrt(0.0025 * kDraws)) << "independent rounds";
}

TEST(Stragglers, SlowOnesMultiply) {
  const Stragglers stragglers = StragglersOf("rank=3:factor=5", 8, {"3:2", "1:1.5"});
  EXPECT_EQ(stragglers.Factor(3, 0), 10);
  EXPECT_EQ(stragglers.Factor(1, 0), 1.5);
  EXPECT_EQ(stragglers.Factor(0, 0), 1);
}

// One that tells rank and round.
class Counting final : public ComputeTime {
 public:
  int64_t Gradient(Rank rank, Round round) const override { return 100 * rank + round; }
};

TEST(Stragglers, StretchComputeTime) {
  const auto slowed =
      WithStragglers(std::make_unique<Counting>(), StragglersOf("rank=3:factor=2.5"));
  EXPECT_EQ(slowed->Gradient(3, 5), 763) << "762.5 to the nearest";
  EXPECT_EQ(slowed->Gradient(2, 5), 205);
  const auto capped = WithStragglers(std::make_unique<FixedComputeTime>(kLongestGradient),
                                     StragglersOf("rank=3:factor=5"));
  EXPECT_EQ(capped->Gradient(3, 0), kLongestGradient);
}

// To the bit, on every machine.
TEST(Stragglers, ChoicesArePinned) {
  std::vector<Rank> chosen;
  for (Rank rank = 0; rank < 20; ++rank) {
    if (StragglersOf("fraction=0.2:factor=3", 20).Factor(rank, 0) > 1) chosen.push_back(rank);
  }
  EXPECT_THAT(chosen, ::testing::ElementsAre(1, 2, 14, 18));
  std::vector<Round> rounds;
  for (Round round = 0; round < 40; ++round) {
    if (StragglersOf("p=0.1:factor=3").Factor(2, round) > 1) rounds.push_back(round);
  }
  EXPECT_THAT(rounds, ::testing::ElementsAre(9, 16, 17, 23, 25, 31, 35));
}

TEST(Stragglers, RefuseWhatMakesNoSense) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "--straggler=: "},
      {"rank=3", "--straggler=rank=3: needs factor=F"},
      {"rank=8:factor=2", "there is no rank 8 among 8 nodes"},
      {"rank=-1:factor=2", "there is no rank -1 among 8 nodes"},
      {"rank=1:factor=0.5", "option factor: 0.5 is less than 1"},
      {"rank=1:factor=1e9", "option factor: 1e9 is more than 1e+06"},
      {"p=1.5:factor=2", "option p: 1.5 is more than 1"},
      {"fraction=-0.1:factor=2", "option fraction: -0.1 is less than 0"},
      {"p=0.1:rank=3:factor=2", "must be none, rank=R:factor=F, fraction=Q:factor=F"},
      {"factor=2", "must be none, rank=R:factor=F"},
      {"3:2", "must be none, rank=R:factor=F"},
      {"rank=1:factor=2:until=9", "unknown option 'until'"},
  };
  for (const auto& [spec, why] : cases) EXPECT_THAT(ErrorOf(spec), HasSubstr(why));
  EXPECT_EQ(ErrorOf("none", {"1"}), "--slow=1: must be RANK:FACTOR, for example 3:2.5");
  EXPECT_EQ(ErrorOf("none", {"8:2"}), "--slow=8:2: there is no rank 8 among 8 nodes");
  EXPECT_THAT(ErrorOf("none", {"1:0.5"}), HasSubstr("--slow=1:0.5: the factor must be at least 1"));
  EXPECT_THAT(ErrorOf("none", {"1:nan"}), HasSubstr("the factor must be at least 1"));
  EXPECT_EQ(ErrorOf("none", {"1:2", "1:3"}), "--slow=1:3: rank 1 is named twice");
}

}  // namespace
}  // namespace grapevine
