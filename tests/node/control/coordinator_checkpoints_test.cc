// What a coordinator does where the run keeps checkpoints.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CoordinatorCheckpoints : public CoordinatorRun {
 protected:
  CoordinatorCheckpoints() { checkpoints_ = {.nodes = 2, .rounds = 100}; }

  void Stop(Rank rank) {
    control::Report report;
    report.mutable_stop()->set_culprit(rank);
    report.mutable_stop()->set_message("terminated (SIGTERM)");
    report.mutable_stop()->set_failure(static_cast<int>(Failure::kTerminated));
    coordinator_->OnReport(rank, report, now_);
    Collect();
  }
  void Complete(Round round) {
    coordinator_->OnCheckpoint(round);
    Collect();
  }
  void ExpectCalled(Round round) {
    for (const Rank rank : {0, 1}) {
      ASSERT_TRUE(Last(rank).has_checkpoint_at());
      EXPECT_EQ(Last(rank).checkpoint_at().round(), round);
    }
    EXPECT_THAT(called_, ElementsAre(round));
  }
};

TEST_F(CoordinatorCheckpoints, AreCalledForByTheTime) {
  checkpoints_->every = seconds(2);
  BeginRunning(2);
  Pass(milliseconds(1900));
  EXPECT_THAT(directives_, IsEmpty());
  Pass(milliseconds(100));
  for (const Rank rank : {0, 1}) ASSERT_EQ(Last(rank).prepare().ballot(), 1u);
  Promise(0, 1, 13);
  EXPECT_TRUE(Last(0).has_prepare());
  Promise(1, 1, 14);
  ExpectCalled(16);
  Complete(16);
  EXPECT_EQ(Last(1).checkpoint_done().round(), 16);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorCheckpoints, ARunThatIsToldToEndEndsWithTheNextOne) {
  BeginRunning(2);
  Stop(1);
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr("the run ends with its next checkpoint"),
                                          HasSubstr("rank 1 at 10.0.0.2:7000"))));
  Stop(0);  // the launcher tells all
  Promise(1, 1, 4);
  Promise(0, 1, 3);
  ExpectCalled(6);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Complete(5);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << "an earlier one";
  Complete(6);
  EXPECT_EQ(Class(), Failure::kTerminated);
  EXPECT_THAT(Message(),
              AllOf(HasSubstr("the checkpoint of round 6 is complete"),
                    HasSubstr("rank 1 at 10.0.0.2:7000"), EndsWith(": terminated (SIGTERM)")));
  for (const Rank rank : {0, 1}) {
    EXPECT_EQ(Last(rank).abort().failure(), static_cast<int>(Failure::kTerminated));
    const auto& before_last = *(directives_[rank].end() - 2);
    EXPECT_EQ(before_last.checkpoint_done().round(), 6);
  }
}

TEST_F(CoordinatorCheckpoints, TheOneThatIsBeingAskedForServes) {
  checkpoints_->every = seconds(2);
  BeginRunning(2);
  Pass(seconds(2));
  Stop(0);
  Promise(0, 1, 3);
  Promise(1, 1, 3);
  ExpectCalled(5);
  Complete(5);
  EXPECT_EQ(Class(), Failure::kTerminated);
}

TEST_F(CoordinatorCheckpoints, ARunWhoseEndIsNearComesToIt) {
  checkpoints_->every = seconds(2);
  BeginRunning(2);
  Stop(1);
  Promise(0, 1, 99);
  Promise(1, 1, 98);
  EXPECT_THAT(
      notices_.back(),
      AllOf(HasSubstr("the run's last rounds are under way, and it comes to its end; rank 1"),
            EndsWith("terminated (SIGTERM)")));
  for (const Rank rank : {0, 1}) {
    ASSERT_TRUE(Last(rank).has_checkpoint_at());
    EXPECT_FALSE(Last(rank).checkpoint_at().has_round()) << "who waits goes on";
  }
  EXPECT_THAT(called_, IsEmpty());
  for (const Rank rank : {0, 1}) Done(rank, 100);
  EXPECT_EQ(all_done_, 1);
}

TEST_F(CoordinatorCheckpoints, ARunInItsLastRoundsSaysAtOnceThatItComesToItsEnd) {
  checkpoints_->every = seconds(2);
  BeginRunning(2);
  Pass(seconds(2));
  for (const Rank rank : {0, 1}) Promise(rank, 1, 98);
  EXPECT_THAT(notices_, IsEmpty()) << "nobody has asked";
  Stop(1);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("it comes to its end; rank 1")));
}

// Nobody would answer any more, and the results may take rank 0 a while.
TEST_F(CoordinatorCheckpoints, AreNotCalledForOnceAllAreDone) {
  checkpoints_->every = seconds(2);
  BeginRunning(2);
  for (const Rank rank : {0, 1}) Done(rank, 100);
  directives_.clear();
  Pass(seconds(4));
  for (const auto& [rank, directives] : directives_) {
    for (const control::Directive& directive : directives) EXPECT_FALSE(directive.has_prepare());
  }
}

TEST_F(CoordinatorCheckpoints, WhoLosesPatienceEndsTheRun) {
  BeginRunning(2);
  Stop(1);
  Fail(1, 1, "terminated (SIGTERM)", Failure::kTerminated);
  EXPECT_EQ(Class(), Failure::kTerminated);
  Complete(6);
  EXPECT_THAT(Message(), EndsWith("10.0.0.2:7000: terminated (SIGTERM)"));
}

TEST_F(CoordinatorCheckpoints, WithoutAnyTheRunEndsAtOnce) {
  checkpoints_.reset();
  BeginRunning(2);
  Stop(1);
  EXPECT_EQ(Class(), Failure::kTerminated);
}

TEST_F(CoordinatorCheckpoints, APromiseThatCannotBeEndsTheRun) {
  BeginRunning(2);
  Promise(1, 1, 5);
  EXPECT_THAT(Message(), HasSubstr("rank 1 at 10.0.0.2:7000 promises round 5 under ballot 1"));
}

}  // namespace
}  // namespace grapevine
