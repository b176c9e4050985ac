#include "node/control/run_verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace grapevine {
namespace {

using ::testing::ElementsAre;

class RunVerdictTest : public ::testing::Test {
 protected:
  const control::Abort& Told() const { return dispatch_.directives.back().second.abort(); }

  Dispatch dispatch_;
  RunVerdict verdict_{&dispatch_};
};

TEST_F(RunVerdictTest, IsToldToWhoeverComes) {
  EXPECT_TRUE(verdict_.status().ok());
  verdict_.AwaitAll(3);
  verdict_.Pass({.culprit = 2, .failure = Failure::kOutput, .message = "no room"});
  EXPECT_EQ(FailureOf(verdict_.status()), Failure::kOutput);
  verdict_.Tell(/*session=*/11, /*rank=*/1);
  EXPECT_EQ(Told().message(), "no room");
  EXPECT_EQ(FailureFromNumber(Told().failure()), Failure::kOutput);
  EXPECT_EQ(Told().culprit(), 2);
  EXPECT_FALSE(Told().others_go_on());
  EXPECT_TRUE(verdict_.awaits());
  verdict_.Tell(/*session=*/12, /*rank=*/2);
  EXPECT_FALSE(verdict_.awaits());
  EXPECT_FALSE(verdict_.resigned());
  EXPECT_THAT(dispatch_.ended, ElementsAre(11, 12));
}

TEST_F(RunVerdictTest, OnThisNodeAloneSaysWhetherOthersGoOn) {
  verdict_.Resign({.culprit = 0, .failure = Failure::kPeerLost, .message = "cut off"},
                  /*others_go_on=*/true);
  EXPECT_TRUE(verdict_.resigned());
  verdict_.Tell(/*session=*/10, /*rank=*/0);
  EXPECT_TRUE(Told().others_go_on());
}

}  // namespace
}  // namespace grapevine
