// Who goes where living nodes have lost each other.
#include "node/control/disputes.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;

TEST(Disputes, OneWhoseNetworkIsBadGoesAlone) {
  EXPECT_THAT(FewestToGo({{1, 3}, {3, 1}, {2, 3}, {3, 2}}, {0}), ElementsAre(3));
  EXPECT_THAT(FewestToGo({{3, 1}, {3, 2}}, {0}), ElementsAre(3)) << "though nobody else says so";
  EXPECT_THAT(FewestToGo({{1, 3}, {2, 3}, {0, 3}, {3, 0}}, {0}), ElementsAre(3));
}

TEST(Disputes, OfTwoTheOneThatWasLostGoesAndElseTheHigherRank) {
  EXPECT_THAT(FewestToGo({{3, 1}}, {0}), ElementsAre(1));
  EXPECT_THAT(FewestToGo({{1, 3}}, {0}), ElementsAre(3));
  EXPECT_THAT(FewestToGo({{1, 3}, {3, 1}}, {0}), ElementsAre(3));
}

TEST(Disputes, OfAsFewThoseWhomMostHaveLostGo) {
  // Of 1 to 4 in a circle either 1 and 3 or 2 and 4 go.
  EXPECT_THAT(FewestToGo({{1, 2}, {3, 2}, {1, 4}, {3, 4}}, {}), ElementsAre(4, 2));
  EXPECT_THAT(FewestToGo({{2, 1}, {2, 3}, {4, 1}, {4, 3}}, {}), ElementsAre(3, 1));
}

TEST(Disputes, WhoHasToDoWithOneThatIsKeptGoesForIt) {
  EXPECT_THAT(FewestToGo({{1, 0}}, {0}), ElementsAre(1));
  EXPECT_THAT(FewestToGo({{0, 1}, {2, 0}}, {0}), ElementsAre(1, 2));
  EXPECT_THAT(FewestToGo({{0, 5}}, {0, 5}), ElementsAre(0)) << "of two that are kept, who says so";
}

TEST(Disputes, AreSeparateWhereTheyShareNobodyWhoMayGo) {
  EXPECT_THAT(SeparateDisputes({{1, 0}, {0, 2}, {2, 3}, {5, 4}}, {0}),
              ElementsAre(Dispute{{0, 2}, {2, 3}}, Dispute{{1, 0}}, Dispute{{5, 4}}));
  EXPECT_THAT(SeparateDisputes({{1, 0}, {0, 2}}, {}), ElementsAre(Dispute{{0, 2}, {1, 0}}));
}

// A partition in the middle of very many.
TEST(Disputes, OfMoreThanCanBeTriedOneSideGoes) {
  Dispute dispute;
  for (Rank one = 0; one < 150; ++one) {
    for (Rank other = 150; other < 400; ++other) dispute.insert({{one, other}, {other, one}});
  }
  const std::vector<Rank> go = FewestToGo(dispute, {});
  EXPECT_EQ(go.size(), 150u);
  EXPECT_EQ(std::ranges::max(go), 149);
}

// The disputes of a seed: among up to eight nodes, none of two that are kept.
struct Drawn {
  explicit Drawn(uint64_t seed) {
    KeyedRandom random(seed, Purpose::kTopology);
    ranks = 2 + static_cast<Rank>(random.Below(7));
    if (random.Below(2) == 0) kept.insert(0);
    if (random.Below(4) == 0) kept.insert(ranks - 1);
    const uint64_t sparse = 1 + random.Below(6);
    for (Rank reporter = 0; reporter < ranks; ++reporter) {
      for (Rank lost = 0; lost < ranks; ++lost) {
        const bool both = kept.contains(reporter) && kept.contains(lost);
        if (lost != reporter && !both && random.Below(sparse) == 0) losses.insert({reporter, lost});
      }
    }
  }
  bool SettledBy(const std::set<Rank>& go) const {
    return std::ranges::none_of(kept, [&](Rank rank) { return go.contains(rank); }) &&
           std::ranges::all_of(losses, [&](const Loss& loss) {
             return go.contains(loss.reporter) || go.contains(loss.lost);
           });
  }

  Rank ranks;
  Dispute losses;
  std::set<Rank> kept;
};

std::set<Rank> Subset(uint32_t bits) {
  std::set<Rank> ranks;
  for (Rank rank = 0; bits >> rank != 0; ++rank) {
    if (((bits >> rank) & 1) != 0) ranks.insert(rank);
  }
  return ranks;
}

// What all of as few come to: the greatest is right.
auto Weight(const std::set<Rank>& go, const Dispute& losses) {
  int64_t losers = 0, lost = 0;
  for (const Rank rank : go) {
    const auto have = std::ranges::count(losses, rank, &Loss::lost);
    losers += have;
    lost += have > 0;
  }
  return std::tuple(-static_cast<int64_t>(go.size()), losers, lost,
                    std::vector<Rank>(go.rbegin(), go.rend()));
}

TEST(Disputes, AreSettledByTheFewestOfAllThatWould) {
  for (const uint64_t seed : testing::Seeds(2000)) {
    const Drawn drawn(seed);
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    const std::vector<Rank> go = FewestToGo(drawn.losses, drawn.kept);
    const std::set<Rank> chosen(go.begin(), go.end());
    ASSERT_EQ(chosen.size(), go.size()) << "each once";
    ASSERT_TRUE(drawn.SettledBy(chosen));
    for (uint32_t bits = 0; bits < 1u << drawn.ranks; ++bits) {
      const std::set<Rank> others = Subset(bits);
      if (!drawn.SettledBy(others)) continue;
      ASSERT_LE(Weight(others, drawn.losses), Weight(chosen, drawn.losses))
          << ::testing::PrintToString(others) << ", not " << ::testing::PrintToString(chosen);
    }
  }
}

TEST(Disputes, AreSettledTogetherAsTheyAreEachByItself) {
  for (const uint64_t seed : testing::Seeds(1000)) {
    const Drawn drawn(seed);
    SCOPED_TRACE("TEST_SEED=" + std::to_string(seed));
    std::set<Rank> one_by_one;
    Dispute all;
    for (const Dispute& dispute : SeparateDisputes(drawn.losses, drawn.kept)) {
      for (const Rank rank : FewestToGo(dispute, drawn.kept)) one_by_one.insert(rank);
      all.insert(dispute.begin(), dispute.end());
    }
    ASSERT_EQ(all, drawn.losses);
    const std::vector<Rank> together = FewestToGo(drawn.losses, drawn.kept);
    ASSERT_EQ(std::set<Rank>(together.begin(), together.end()), one_by_one);
  }
}

}  // namespace
}  // namespace grapevine
