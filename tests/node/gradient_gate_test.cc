#include "node/gradient_gate.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

GradientRequest OfRound(Round round) {
  return {.at = {}, .into = Vec{2}, .round = round, .cuts = {}};
}

TEST(GradientGateTest, AdmitsAtOnceAndOnce) {
  GradientGate gate;
  EXPECT_FALSE(gate.Admit(false).has_value());
  gate.OnSend(2);  // late, but no model is held
  gate.Ask(OfRound(3));
  const auto admitted = gate.Admit(false);
  ASSERT_TRUE(admitted.has_value());
  EXPECT_EQ(admitted->round, 3);
  EXPECT_EQ(admitted->into, Vec{2});
  EXPECT_FALSE(gate.Admit(false).has_value());
}

TEST(GradientGateTest, WaitsForEarlierRoundsWhileAModelIsHeld) {
  GradientGate gate;
  gate.OnSend(2);
  gate.OnSend(2);
  gate.Ask(OfRound(3));
  gate.OnSend(3);  // of the same round: may stay
  EXPECT_FALSE(gate.Admit(true).has_value());
  EXPECT_TRUE(gate.holds_back());
  gate.OnSent(2);
  EXPECT_FALSE(gate.Admit(true).has_value());
  gate.OnSent(2);
  EXPECT_TRUE(gate.Admit(true).has_value());
}

TEST(GradientGateTest, OpensWhenTheModelIsLetGo) {
  GradientGate gate;
  gate.OnSend(0);
  gate.Ask(OfRound(1));
  EXPECT_FALSE(gate.Admit(true).has_value());
  EXPECT_TRUE(gate.Admit(false).has_value());
}

TEST(GradientGateDeathTest, KnowsWhatIsOnItsWay) {
  GradientGate gate;
  EXPECT_DEATH(gate.OnSent(4), "no message of round 4 is on its way");
  gate.Ask(OfRound(1));
  EXPECT_DEATH(gate.Ask(OfRound(2)), "round 2 was asked for before that of 1 began");
}

}  // namespace
}  // namespace grapevine
