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
  gate.OnSend({1}, 7);  // late, but no model is held
  gate.Ask(OfRound(3));
  const auto admitted = gate.Admit(false);
  ASSERT_TRUE(admitted.has_value());
  EXPECT_EQ(admitted->round, 3);
  EXPECT_EQ(admitted->into, Vec{2});
  EXPECT_FALSE(gate.Admit(false).has_value());
}

TEST(GradientGateTest, WaitsForWhatWasSentBeforeWhileAModelIsHeld) {
  GradientGate gate;
  gate.OnSend({1}, 7);
  gate.OnSend({2}, 7);
  gate.Ask(OfRound(3));
  gate.OnSend({3}, 7);  // afterwards: may stay
  EXPECT_FALSE(gate.Admit(true).has_value());
  EXPECT_EQ(gate.WaitingFor(), std::set<Rank>{7});
  gate.OnSent({2});
  EXPECT_FALSE(gate.Admit(true).has_value());
  gate.OnSent({1});
  EXPECT_TRUE(gate.Admit(true).has_value());
  EXPECT_TRUE(gate.WaitingFor().empty());
}

TEST(GradientGateTest, NamesWhoHasNotTakenWhatWasSentBefore) {
  GradientGate gate;
  gate.OnSend({1}, 5);
  gate.OnSend({2}, 4);
  gate.OnSend({3}, 4);
  EXPECT_TRUE(gate.WaitingFor().empty()) << "nothing is held back";
  gate.Ask(OfRound(3));
  gate.OnSend({4}, 6);
  EXPECT_EQ(gate.WaitingFor(), (std::set<Rank>{4, 5}));
  gate.OnSent({1});
  EXPECT_EQ(gate.WaitingFor(), std::set<Rank>{4});
}

TEST(GradientGateTest, OpensWhenTheModelIsLetGo) {
  GradientGate gate;
  gate.OnSend({1}, 7);
  gate.Ask(OfRound(1));
  EXPECT_FALSE(gate.Admit(true).has_value());
  EXPECT_TRUE(gate.Admit(false).has_value());
}

TEST(GradientGateDeathTest, KnowsWhatIsOnItsWay) {
  GradientGate gate;
  EXPECT_DEATH(gate.OnSent({4}), "send 4 is not on its way");
  gate.Ask(OfRound(1));
  EXPECT_DEATH(gate.Ask(OfRound(2)), "round 2 was asked for before that of 1 began");
}

}  // namespace
}  // namespace grapevine
