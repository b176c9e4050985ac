// Who keeps its place among callers that have proven nothing.
#include "node/server/unproven_callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace grapevine {
namespace {

using ::testing::Optional;
using Caller = UnprovenCallers::Caller;

constexpr char kStranger[] = "192.0.2.66";
constexpr char kNode[] = "10.0.0.4";

TEST(UnprovenCallers, TheOldestOfTheHostThatHoldsMostGivesWay) {
  UnprovenCallers callers(/*places=*/4, /*reserved=*/0);
  const Caller node = callers.Enter(kNode).caller;
  std::vector<Caller> strangers;
  for (int i = 0; i < 3; ++i) {
    const auto [caller, displaced] = callers.Enter(kStranger);
    EXPECT_EQ(displaced, std::nullopt);
    strangers.push_back(caller);
  }
  for (int i = 0; i < 1000; ++i) {
    const auto [caller, displaced] = callers.Enter(kStranger);
    EXPECT_THAT(displaced, Optional(strangers.front())) << i;
    strangers.erase(strangers.begin());
    strangers.push_back(caller);
    EXPECT_EQ(callers.size(), 4u);
  }
  // One more host has its place of the one that holds most.
  EXPECT_THAT(callers.Enter("10.0.0.5").displaced, Optional(strangers.front()));
  callers.Leave(node);
  callers.Leave(node);
  EXPECT_EQ(callers.size(), 3u);
}

TEST(UnprovenCallers, OfHostsThatHoldAsManyTheOldestCallerGivesWay) {
  UnprovenCallers callers(/*places=*/2, /*reserved=*/0);
  const Caller first = callers.Enter("192.0.2.1").caller;
  const Caller second = callers.Enter("192.0.2.2").caller;
  EXPECT_THAT(callers.Enter("192.0.2.3").displaced, Optional(first));
  EXPECT_THAT(callers.Enter("192.0.2.4").displaced, Optional(second));
}

TEST(UnprovenCallers, ANetworkOfIpv6IsOneHost) {
  UnprovenCallers callers(/*places=*/3, /*reserved=*/0);
  const Caller node = callers.Enter("2001:db8:0:1::7").caller;
  const Caller first = callers.Enter("2001:db8:0:2::1").caller;
  const Caller second = callers.Enter("2001:db8:0:2::2").caller;
  EXPECT_THAT(callers.Enter("2001:db8:0:2::3").displaced, Optional(first));
  EXPECT_THAT(callers.Enter("2001:db8:0:2:ffff::4").displaced, Optional(second));
  callers.Leave(node);
  EXPECT_EQ(callers.size(), 2u);
}

TEST(UnprovenCallers, HostsThatAreKnownHavePlacesThatStrangersDoNotTake) {
  UnprovenCallers callers(/*places=*/2, /*reserved=*/2);
  callers.Know(4, kNode);
  const Caller node = callers.Enter(kNode).caller;
  const Caller mapped = callers.Enter("::ffff:10.0.0.4").caller;
  std::vector<Caller> gone;
  for (int i = 0; i < 100; ++i) {
    const auto displaced = callers.Enter("192.0.2." + std::to_string(i)).displaced;
    if (displaced) gone.push_back(*displaced);
  }
  EXPECT_EQ(gone.size(), 98u);
  EXPECT_THAT(gone, ::testing::Not(::testing::Contains(::testing::AnyOf(node, mapped))));
  EXPECT_THAT(callers.Enter(kNode).displaced, Optional(node));
}

TEST(UnprovenCallers, AHostIsKnownAsLongAsARankIsThere) {
  UnprovenCallers callers(/*places=*/0, /*reserved=*/10);
  const auto has_a_place = [&](const char* host) { return !callers.Enter(host).displaced; };
  EXPECT_FALSE(has_a_place(kNode));
  callers.Know(4, kNode);
  callers.Know(5, kNode);
  callers.Know(4, "node4");  // a name, which tells nothing of where it calls from
  EXPECT_TRUE(has_a_place(kNode));
  callers.Know(4, "10.0.0.7");
  EXPECT_TRUE(has_a_place(kNode));
  EXPECT_TRUE(has_a_place("10.0.0.7"));
  callers.Know(5, "10.0.0.7");
  EXPECT_FALSE(has_a_place(kNode));
  EXPECT_TRUE(has_a_place("")) << "from this process";
}

}  // namespace
}  // namespace grapevine
