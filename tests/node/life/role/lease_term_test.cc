#include "node/life/role/lease_term.h"

#include <gtest/gtest.h>

#include <chrono>

namespace grapevine {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kTimeToLive{3000};

TEST(LeaseTerm, CountsFromTheRequestNotFromTheAnswer) {
  LeaseTerm term(milliseconds(1000), kTimeToLive);
  EXPECT_TRUE(term.IsHeld(milliseconds(3999)));
  EXPECT_FALSE(term.IsHeld(milliseconds(4000)));
  term.OnRenewed(milliseconds(2000));
  EXPECT_TRUE(term.IsHeld(milliseconds(4999)));
  EXPECT_FALSE(term.IsHeld(milliseconds(5000)));
}

TEST(LeaseTerm, IsRenewedThreeTimesInItsTimeToLive) {
  const LeaseTerm term(milliseconds(0), kTimeToLive);
  EXPECT_EQ(term.pause(), milliseconds(1000));
  EXPECT_EQ(LeaseTerm::Beat(kTimeToLive), milliseconds(1000));
}

TEST(LeaseTerm, AStoreThatDoesNotAnswerIsAskedAgainSoonUntilTheTermIsOver) {
  LeaseTerm term(milliseconds(0), kTimeToLive);
  EXPECT_TRUE(term.OnTrouble(/*ended=*/false, milliseconds(2999)));
  EXPECT_EQ(term.pause(), milliseconds(200));
  term.OnRenewed(milliseconds(2999));
  EXPECT_EQ(term.pause(), milliseconds(1000));
  EXPECT_FALSE(term.OnTrouble(/*ended=*/false, milliseconds(5999)));
}

TEST(LeaseTerm, ALeaseThatTheStoreDoesNotKnowIsLostAtOnce) {
  LeaseTerm term(milliseconds(0), kTimeToLive);
  EXPECT_FALSE(term.OnTrouble(/*ended=*/true, milliseconds(1)));
  EXPECT_FALSE(term.IsHeld(milliseconds(1)));
}

}  // namespace
}  // namespace grapevine
