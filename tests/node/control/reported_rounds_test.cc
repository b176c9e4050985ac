#include "node/control/reported_rounds.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

TEST(ReportedRounds, KnowTheLeast) {
  ReportedRounds rounds;
  EXPECT_TRUE(rounds.AllAtLeast(7)) << "of nobody";
  rounds.Set(0, 5);
  rounds.Set(1, 5);
  rounds.Set(2, 3);
  EXPECT_FALSE(rounds.AllAtLeast(4));
  rounds.Set(2, 9);
  EXPECT_TRUE(rounds.AllAtLeast(5));
  EXPECT_FALSE(rounds.AllAtLeast(6));
  rounds.Set(0, 8);
  EXPECT_FALSE(rounds.AllAtLeast(6));
  rounds.Erase(1);
  rounds.Erase(1);
  EXPECT_TRUE(rounds.AllAtLeast(8));
  EXPECT_FALSE(rounds.AllAtLeast(9));
  EXPECT_EQ(rounds.size(), 2);
  EXPECT_EQ(rounds.Of(2), 9);
  EXPECT_EQ(rounds.Of(1), 0);
  EXPECT_FALSE(rounds.contains(1));
}

}  // namespace
}  // namespace grapevine
