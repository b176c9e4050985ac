#include "node/life/role/lapsed_role.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

TEST(LapsedRole, IsRegainedIfNoOtherNodeHasHadIt) {
  LapsedRole role;
  EXPECT_EQ(role.step(), LapsedRole::Step::kLook);
  role.OnLooked(true);
  EXPECT_EQ(role.step(), LapsedRole::Step::kTake);
  role.OnTaken(true);
  EXPECT_EQ(role.step(), LapsedRole::Step::kClaim);
  role.OnClaimed();
  EXPECT_EQ(role.step(), LapsedRole::Step::kRegained);
}

TEST(LapsedRole, IsNotTakenFromANodeThatHasHadItSince) {
  LapsedRole role;
  role.OnLooked(false);
  EXPECT_EQ(role.step(), LapsedRole::Step::kYield);
}

TEST(LapsedRole, IsLetGoIfANodeHasHadItBetweenTheLookAndTheClaim) {
  LapsedRole role;
  role.OnLooked(true);
  role.OnTaken(true);
  role.OnTrouble();
  EXPECT_EQ(role.step(), LapsedRole::Step::kLook);
  role.OnLooked(false);
  EXPECT_EQ(role.step(), LapsedRole::Step::kYield);
}

TEST(LapsedRole, IsTriedForAgainWhileAnyNodeHasIt) {
  LapsedRole role;
  for (int i = 0; i < 3; ++i) {
    role.OnLooked(true);
    EXPECT_EQ(role.step(), LapsedRole::Step::kTake);
    role.OnTaken(false);
  }
  role.OnLooked(false);
  EXPECT_EQ(role.step(), LapsedRole::Step::kYield);
}

}  // namespace
}  // namespace grapevine
