#include <gtest/gtest.h>

#include <vector>

#include "algorithm/receiving.h"

namespace grapevine {
namespace {

constexpr int64_t kMegabyte = 1'000'000;

// What the tag says is nothing to the order.
Tag Of(Round round) { return {.channel = 0, .index = 100 - round, .step = 0}; }

// The rounds of the credits that may go when so many bytes arrive meanwhile.
std::vector<Round> Taken(CreditOrder& order, double allowance) {
  std::vector<Round> rounds;
  for (const auto& message : order.Take([allowance](Rank, Rank) { return allowance; })) {
    rounds.push_back(100 - message.tag.index);
  }
  return rounds;
}

TEST(CreditOrder, TheNextRoundWaitsForAllButWhatArrivesMeanwhile) {
  CreditOrder order;
  order.Post(1, Of(0), 0, kMegabyte);
  order.Post(2, Of(1), 1, kMegabyte);
  constexpr double kAllowance = 100'000;
  EXPECT_EQ(Taken(order, kAllowance), std::vector<Round>{0});
  EXPECT_EQ(order.Excess([](Rank, Rank) { return kAllowance; }), 900'000);
  order.Lacks(1, Of(0), 100'001);
  EXPECT_TRUE(Taken(order, kAllowance).empty());
  order.Lacks(1, Of(0), 100'000);
  EXPECT_EQ(Taken(order, kAllowance), std::vector<Round>{1});
  EXPECT_TRUE(Taken(order, kAllowance).empty()) << "told twice";
  EXPECT_EQ(order.Excess([](Rank, Rank) { return kAllowance; }), 0) << "none is held";
}

TEST(CreditOrder, MessagesThatFitIntoTheWayOfACreditWaitForNothing) {
  CreditOrder order;
  for (Round round = 0; round < 4; ++round) order.Post(1, Of(round), round, kMegabyte);
  EXPECT_EQ(Taken(order, 2 * kMegabyte), (std::vector<Round>{0, 1, 2}));
}

TEST(CreditOrder, WithoutAMeasureACreditWaitsUntilNothingIsLeft) {
  CreditOrder order;
  order.Post(1, Of(0), 0, kMegabyte);
  order.Post(2, Of(1), 1, kMegabyte);
  EXPECT_EQ(Taken(order, 0), std::vector<Round>{0});
  order.Close(1, Of(0));
  EXPECT_EQ(Taken(order, 0), std::vector<Round>{1});
}

TEST(CreditOrder, ThreePacketsDisturbNobody) {
  CreditOrder order;
  order.Post(1, Of(0), 0, 4096);
  order.Post(2, Of(1), 1, 1);
  order.Post(3, Of(2), 2, 1);
  EXPECT_EQ(Taken(order, 0), (std::vector<Round>{0, 1}));
}

TEST(CreditOrder, MessagesOfOneRoundDoNotWaitForEachOther) {
  CreditOrder order;
  order.Post(4, Of(7), 7, kMegabyte);
  order.Post(2, Of(8), 8, kMegabyte);
  order.Post(3, Of(7), 7, kMegabyte);  // later, of the earlier round
  EXPECT_EQ(Taken(order, 0), (std::vector<Round>{7, 7}));
  order.Close(4, Of(7));
  EXPECT_TRUE(Taken(order, 0).empty()) << "one of the round is left";
  order.Close(3, Of(7));
  EXPECT_EQ(Taken(order, 0), std::vector<Round>{8});
}

// What a credit may anticipate depends on how long its way is.
TEST(CreditOrder, ACreditForAFarPeerGoesEarlier) {
  CreditOrder order;
  order.Post(1, Of(0), 0, kMegabyte);
  order.Post(2, Of(1), 1, kMegabyte);
  order.Post(3, Of(1), 1, kMegabyte);
  const auto taken = order.Take([](Rank to, Rank) { return to == 3 ? kMegabyte : 0; });
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].from, 1);
  EXPECT_EQ(taken[1].from, 3);
}

// The slowest of the messages that are missing decides.
TEST(CreditOrder, WhatArrivesMeanwhileDependsOnWhoLacks) {
  const auto taken = [](CreditOrder& order) {
    return order.Take([](Rank, Rank lacking) { return lacking == 1 ? 2 * kMegabyte : 0; }).size();
  };
  CreditOrder near, both;
  for (CreditOrder* order : {&near, &both}) order->Post(1, Of(0), 0, kMegabyte);
  both.Post(2, Of(0), 0, kMegabyte);
  for (CreditOrder* order : {&near, &both}) order->Post(3, Of(1), 1, kMegabyte);
  EXPECT_EQ(taken(near), 2u);
  EXPECT_EQ(taken(both), 2u) << "those of round 0";
  both.Lacks(2, Of(0), 0);
  EXPECT_EQ(taken(both), 1u);
}

TEST(CreditOrder, APeerThatIsGoneHoldsUpNobody) {
  CreditOrder order;
  order.Post(1, Of(0), 0, kMegabyte);
  order.Post(1, Of(1), 1, kMegabyte);
  order.Post(2, Of(1), 1, kMegabyte);
  EXPECT_EQ(Taken(order, 0), std::vector<Round>{0});
  order.CloseAll(1);
  EXPECT_EQ(Taken(order, 0), std::vector<Round>{1});
}

TEST(CreditOrder, SaysNothingOfMessagesThatWereNotPostedInTurn) {
  CreditOrder order;
  order.Lacks(1, Of(0), 5);
  order.Close(1, Of(0));
  EXPECT_TRUE(Taken(order, 0).empty());
}

}  // namespace
}  // namespace grapevine
