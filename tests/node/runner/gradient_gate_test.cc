#include "node/runner/gradient_gate.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

GradientRequest OfRound(Round round) {
  return {.at = {}, .into = Vec{2}, .round = round, .cuts = {}};
}

TEST(GradientGateTest, AdmitsAtOnceAndOnce) {
  GradientGate gate;
  EXPECT_FALSE(gate.Admit(false).has_value());
  gate.OnSend(7, 2);  // late, but no model is held
  gate.Ask(OfRound(3));
  const auto admitted = gate.Admit(false);
  ASSERT_TRUE(admitted.has_value());
  EXPECT_EQ(admitted->round, 3);
  EXPECT_EQ(admitted->into, Vec{2});
  EXPECT_FALSE(gate.Admit(false).has_value());
}

TEST(GradientGateTest, WaitsForEarlierRoundsWhileAModelIsHeld) {
  GradientGate gate;
  gate.OnSend(7, 2);
  gate.OnSend(7, 2);
  gate.Ask(OfRound(3));
  gate.OnSend(7, 3);  // of the same round: may stay
  EXPECT_FALSE(gate.Admit(true).has_value());
  EXPECT_EQ(gate.WaitingFor(), std::set<Rank>{7});
  gate.OnSent(7, 2);
  EXPECT_FALSE(gate.Admit(true).has_value());
  gate.OnSent(7, 2);
  EXPECT_TRUE(gate.Admit(true).has_value());
  EXPECT_TRUE(gate.WaitingFor().empty());
}

TEST(GradientGateTest, NamesWhoHasNotTakenEarlierRounds) {
  GradientGate gate;
  gate.OnSend(5, 1);
  gate.OnSend(4, 2);
  gate.OnSend(4, 1);
  gate.OnSend(6, 3);
  EXPECT_TRUE(gate.WaitingFor().empty()) << "nothing is held back";
  gate.Ask(OfRound(3));
  EXPECT_EQ(gate.WaitingFor(), (std::set<Rank>{4, 5}));
  gate.OnSent(5, 1);
  EXPECT_EQ(gate.WaitingFor(), std::set<Rank>{4});
}

TEST(GradientGateTest, OpensWhenTheModelIsLetGo) {
  GradientGate gate;
  gate.OnSend(7, 0);
  gate.Ask(OfRound(1));
  EXPECT_FALSE(gate.Admit(true).has_value());
  EXPECT_TRUE(gate.Admit(false).has_value());
}

TEST(GradientGateDeathTest, KnowsWhatIsOnItsWay) {
  GradientGate gate;
  EXPECT_DEATH(gate.OnSent(7, 4), "no message of round 4 is on its way to rank 7");
  gate.Ask(OfRound(1));
  EXPECT_DEATH(gate.Ask(OfRound(2)), "round 2 was asked for before that of 1 began");
}

}  // namespace
}  // namespace grapevine
