// How a coordinator ends a run that has done its rounds.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using CoordinatorEnd = CoordinatorRun;

TEST_F(CoordinatorEnd, FinishesWhenAllAreDoneBelowTheCurrentLimitAndTheResultsAreThere) {
  BeginRunning(2);
  Done(0, 100);
  coordinator_->ExtendRoundLimit(50, true);  // never inwards
  coordinator_->ExtendRoundLimit(200, true);
  Collect();
  EXPECT_EQ(directives_[1].back().round_limit().limit(), 200);
  Done(1, 200);
  EXPECT_EQ(all_done_, 0);
  Done(0, 200);
  EXPECT_EQ(all_done_, 1);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "rank 0 writes its results";
  EXPECT_THAT(ended_, IsEmpty());
  coordinator_->Finish();
  Collect();
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kFinished);
  EXPECT_TRUE(directives_[0].back().has_finish());
  EXPECT_TRUE(directives_[1].back().has_finish());
  EXPECT_THAT(ended_, ElementsAre(0, 1));
  LoseProcess(1);
  EXPECT_TRUE(coordinator_->verdict().ok());
}

TEST_F(CoordinatorEnd, ANodeThatIsDoneElsewhereEndsTheRun) {
  for (const Round elsewhere : {int64_t{-1}, int64_t{9}, int64_t{101}}) {
    BeginRunning(2);
    Done(1, elsewhere);
    EXPECT_EQ(Class(), Failure::kOther);
    EXPECT_THAT(Message(), HasSubstr(absl::StrCat("rank 1 says that it is done with ", elsewhere,
                                                  " rounds, where the run has 100")));
  }
}

TEST_F(CoordinatorEnd, ResultsThatCannotBeWrittenAreTheVerdictForAll) {
  BeginRunning(2);
  Done(0, 100);
  Done(1, 100);
  Fail(0, 0, "rank 0: cannot write summary.json", Failure::kOutput);
  coordinator_->Finish();  // too late
  Collect();
  EXPECT_EQ(Class(), Failure::kOutput);
  for (const SessionId session : {0, 1}) EXPECT_TRUE(directives_[session].back().has_abort());
}

TEST_F(CoordinatorEnd, WritingTheResultsHasTheStepTimeout) {
  BeginRunning(2);
  Done(1, 100);
  Pass(milliseconds(70000),
       [&] { Beat(0, 100, {}, now_.time_since_epoch().count()), Beat(1, 100); });
  Done(0, 100);
  const auto beat = [&] { Beat(0, 100, {}, 7), Beat(1, 100); };
  Pass(milliseconds(59000), beat);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Pass(milliseconds(2000), beat);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 0 is slow"), HasSubstr("--step-timeout=60s")));
}

TEST_F(CoordinatorEnd, ANodeThatDiesBetweenDoneAndFinishIsLost) {
  BeginRunning(2);
  Done(1, 100);
  LoseProcess(1);
  EXPECT_EQ(Class(), Failure::kPeerLost);
}

}  // namespace
}  // namespace grapevine
