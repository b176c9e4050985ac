// Groups of ranks, and schedules made from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiment/graph_search/exact_schedules.h"
#include "experiment/graph_search/groups.h"
#include "experiment/graph_search/matching_schedules.h"
#include "topology/weights/fitted_weights.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Rounds = std::vector<WeightedRound>;

// Rank r is in room r % rooms, on floor r % floors.
Group InRooms(Rank n, int rooms, int floors) {
  return GroupByNearness(n, [=](Rank a, Rank b) {
    if (a % floors != b % floors) return 100.0;
    return a % rooms != b % rooms ? 10.0 : 1.0;
  });
}

TEST(Groups, AreOfThoseThatAreNear) {
  const Group group = InRooms(12, 6, 3);
  ASSERT_EQ(group.parts.size(), 3u);
  EXPECT_THAT(group.parts[1].members, ElementsAre(1, 4, 7, 10));
  ASSERT_EQ(group.parts[1].parts.size(), 2u);
  EXPECT_THAT(group.parts[1].parts[0].members, ElementsAre(1, 7));
  EXPECT_THAT(MembersByPart(group), ElementsAre(0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11));
  EXPECT_THAT(TopLevel(group).parts[1].parts, IsEmpty());
}

TEST(Groups, AreOneWhereAllAreAsNear) {
  EXPECT_THAT(GroupByNearness(5, [](Rank, Rank) { return 3.0; }).parts, IsEmpty());
  EXPECT_THAT(GroupByNearness(5, [](Rank a, Rank b) { return 3.0 + a * b / 20.0; }).parts,
              IsEmpty());
}

TEST(ExactSchedules, AverageExactlyForAnyNodesAndGroups) {
  for (Rank n = 1; n <= 19; ++n) {
    for (const auto& [rooms, floors] : {std::pair(1, 1), {3, 3}, {4, 2}}) {
      const Group group = InRooms(n, rooms, floors);
      for (const int ways : {2, 3, n}) {
        for (const bool full : {false, true}) {
          for (const bool pairwise : {false, true}) {
            SCOPED_TRACE(absl::StrCat(n, " nodes, ", floors, " floors, ", ways, " ways, full ",
                                      full, ", pairwise ", pairwise));
            const Rounds rounds = ExactSchedule(
                group, {.ways = std::max(ways, 2), .full = full, .pairwise = pairwise});
            if (n == 1) {
              EXPECT_THAT(rounds, IsEmpty());
              continue;
            }
            // One period, and the first rounds of another.
            const auto period = static_cast<Round>(rounds.size());
            EXPECT_LT(Disagreement(n, rounds, 2 * period - 1), 1e-9);
            std::vector<double> sums(n, 0);
            for (const WeightedRound& round : rounds) {
              std::ranges::fill(sums, 0);
              for (const auto& [a, b, weight] : round) {
                EXPECT_LT(a, b);
                EXPECT_GT(weight, 0);
                sums[a] += weight;
                sums[b] += weight;
              }
              for (const double sum : sums) EXPECT_LE(sum, 1 + 1e-12);
            }
          }
        }
      }
    }
  }
}

// Four messages each way, where counterparts would exchange eight.
TEST(ExactSchedules, SendFewMessagesBetweenHalves) {
  const Group group = InRooms(16, 2, 2);
  const Rounds rounds = ExactSchedule(group, {.ways = 16});
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[1].size(), 4u);
  EXPECT_LT(Disagreement(16, rounds, 3), 1e-9);
  EXPECT_EQ(ExactSchedule(group, {.ways = 16, .full = true})[1].size(), 8u);
}

TEST(MatchingSchedules, UseDearEdgesLessOften) {
  const WeightedRound graph = {{0, 1, 0.3}, {2, 3, 0.3}, {1, 2, 0.3}, {0, 3, 0.3}, {0, 2, 0.3}};
  const EdgeCost cost = [](const WeightedEdge& edge) { return edge.b - edge.a == 1 ? 1 : 9; };
  const Rounds matchings = Matchings(graph, cost);
  ASSERT_EQ(matchings.size(), 3u);
  for (const WeightedRound& matching : matchings) {
    std::vector<int> uses(4, 0);
    for (const WeightedEdge& edge : matching) {
      EXPECT_EQ(++uses[edge.a], 1);
      EXPECT_EQ(++uses[edge.b], 1);
    }
  }
  const Rounds sometimes = DearEdgesSometimes(graph, cost, 1, 3);
  ASSERT_EQ(sometimes.size(), 3u);
  EXPECT_EQ(sometimes[0].size(), 5u);
  EXPECT_EQ(sometimes[1].size(), 3u);
  const Rounds turns = DearMatchingsInTurn(graph, cost, 1, 2);
  ASSERT_EQ(turns.size(), 6u);  // (0, 3) and (0, 2) share a node
  EXPECT_EQ(turns[1].size(), 3u);
  EXPECT_EQ(turns[2].size(), 1u);
}

}  // namespace
}  // namespace grapevine::testing
