#include "node/probe/disjoint_rounds.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace grapevine {
namespace {

TEST(DisjointRounds, EachEdgeOnceAndNoHostTwiceAtATime) {
  std::vector<HostEdge> edges = {{2, 2}};
  for (size_t from = 0; from < 7; ++from) {
    for (size_t to = 0; to < 7; ++to) {
      if (from != to) edges.emplace_back(from, to);
    }
  }
  const auto rounds = DisjointRounds(edges);
  std::set<size_t> seen;
  for (const std::vector<size_t>& round : rounds) {
    std::map<size_t, std::set<size_t>> beside;  // with whom each host is busy
    for (const size_t edge : round) {
      EXPECT_TRUE(seen.insert(edge).second);
      beside[edges[edge].first].insert(edges[edge].second);
      beside[edges[edge].second].insert(edges[edge].first);
    }
    for (const auto& [host, others] : beside) EXPECT_EQ(others.size(), 1u) << host;
  }
  EXPECT_EQ(seen.size(), edges.size());
  EXPECT_LE(rounds.size(), edges.size() / 3) << "both directions, and several pairs at once";
}

TEST(DisjointRounds, NothingTakesNone) { EXPECT_TRUE(DisjointRounds({}).empty()); }

}  // namespace
}  // namespace grapevine
