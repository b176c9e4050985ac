#include "run/records/awaited_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace grapevine {
namespace {

using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

std::vector<std::pair<Rank, int64_t>> Longest(const AwaitedPeers& awaited) {
  std::vector<std::pair<Rank, int64_t>> pairs;
  for (const auto& [peer, time] : awaited.Longest()) pairs.emplace_back(peer, time.count());
  return pairs;
}

TEST(AwaitedPeers, AddUpByPeerAndComeLongestFirst) {
  AwaitedPeers awaited;
  EXPECT_THAT(Longest(awaited), IsEmpty());
  awaited.Add(7, nanoseconds(5));
  awaited.Add(3, nanoseconds(9));
  awaited.Add(7, nanoseconds(10));
  awaited.Add(2, nanoseconds(9));
  awaited.Add(4, nanoseconds(0));
  awaited.Add(5, nanoseconds(-3));
  EXPECT_THAT(Longest(awaited), ElementsAre(Pair(7, 15), Pair(2, 9), Pair(3, 9)));
}

TEST(AwaitedPeers, BeyondTheMostANewOneTakesThePlaceAndTimeOfTheLeast) {
  AwaitedPeers awaited(2);
  awaited.Add(0, nanoseconds(100));
  awaited.Add(1, nanoseconds(3));
  awaited.Add(2, nanoseconds(4));
  EXPECT_THAT(Longest(awaited), ElementsAre(Pair(0, 100), Pair(2, 7)));
}

TEST(AwaitedPeers, SumsEndAtTheGreatestTime) {
  AwaitedPeers awaited;
  awaited.Add(1, nanoseconds::max());
  awaited.Add(1, nanoseconds::max());
  EXPECT_THAT(Longest(awaited), ElementsAre(Pair(1, nanoseconds::max().count())));
}

}  // namespace
}  // namespace grapevine
