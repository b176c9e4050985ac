// What a coordinator makes of what nodes tell while they run: measurements, slowness, and a run in
// which nothing moves.
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

using CoordinatorPace = CoordinatorRun;

TEST_F(CoordinatorPace, PassesMetricsOn) {
  BeginRunning(2);
  control::Report report;
  report.mutable_metrics()->set_round(17);
  coordinator_->OnReport(1, report, now_);
  Collect();
  EXPECT_THAT(metrics_, ElementsAre(std::pair<Rank, Round>(1, 17)));
  // They may come before the heartbeat of that round.
  LoseProcess(1);
  EXPECT_THAT(Message(), HasSubstr("in round 17"));
}

// Heartbeats of a second tell that a silence of two is one too long.
TEST_F(CoordinatorPace, WhoHasBeenHeardOftenIsMissedSoon) {
  min_peer_timeout_ = milliseconds(2000);
  BeginRunning(3, milliseconds(30000));
  Pass(milliseconds(10000), [&] {
    for (const Rank rank : {0, 1, 2}) Beat(rank, 5);
  });
  Pass(milliseconds(1900), [&] {
    for (const Rank rank : {0, 1}) Beat(rank, 6);
  });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(200), [&] {
    for (const Rank rank : {0, 1}) Beat(rank, 6);
  });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 2 at 10.0.0.3:7000 is silent: last heard 2.0 s"),
                               HasSubstr("longer than 2.0 s, as its silences have been short; "
                                         "--min-peer-timeout=2s is the least")));
}

// A connection that is known to be broken may be made again for as long as ever.
TEST_F(CoordinatorPace, WhoseConnectionIsBrokenIsMissedLater) {
  min_peer_timeout_ = milliseconds(2000);
  BeginRunning(2, milliseconds(30000));
  Pass(milliseconds(10000), [&] {
    for (const Rank rank : {0, 1}) Beat(rank, 5);
  });
  coordinator_->OnClosed(1, "connection reset by peer", now_);
  Pass(milliseconds(29000), [&] { Beat(0, 6); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(2000), [&] { Beat(0, 6); });
  EXPECT_THAT(Message(), HasSubstr("--peer-timeout=30s is how long that may last"));
}

// It may be rank 0 that has not listened.
TEST_F(CoordinatorPace, WhoStoodStillItselfMissesNobody) {
  min_peer_timeout_ = milliseconds(2000);
  BeginRunning(2, milliseconds(30000));
  Pass(milliseconds(10000), [&] {
    for (const Rank rank : {0, 1}) Beat(rank, 5);
  });
  now_ += milliseconds(20000);
  coordinator_->OnTick(now_);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorPace, ASlowNodeIsNoticedOnceARound) {
  BeginRunning(3);
  const auto beat = [&] {
    Beat(0, 6, {1}, 5);
    Beat(1, 5);
    Beat(2, 6, {1}, 5);
  };
  Pass(milliseconds(20000), beat);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_THAT(notices_, ElementsAre(AllOf(HasSubstr("rank 1 is slow"), HasSubstr("round 5"),
                                          HasSubstr("ranks 0, 2 wait for it"))));
}

TEST_F(CoordinatorPace, ARoundBeyondTheStepTimeoutIsAVerdict) {
  BeginRunning(2);
  Pass(milliseconds(60100), [&] {
    Beat(0, 6, {1}, now_.time_since_epoch().count());
    Beat(1, 5);
  });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 1 is slow: alive, but for 60.0 s in round 5"),
                               HasSubstr("--step-timeout=60s")));
}

// Rank 0 evaluates for longer than every time-out; the others wait for it.
TEST_F(CoordinatorPace, AnEvaluationThatMovesIsNeitherStuckNorTooSlow) {
  BeginRunning(3);
  int64_t batches = 0;
  const auto beat = [&](bool moves) {
    Beat(0, 6, {}, batches += moves);
    Beat(1, 6, {0}, 5);
    Beat(2, 6, {1}, 5);
  };
  Pass(milliseconds(200000), [&] { beat(true); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("rank 0 is slow: alive")));
  Pass(milliseconds(60100), [&] { beat(false); });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("rank 0 is slow"), HasSubstr("moved for 60.0 s"),
                               HasSubstr("--step-timeout=60s")));
}

// After the last round: the others are done.
TEST_F(CoordinatorPace, AFinalEvaluationMayTakeLongerThanTheStepTimeout) {
  BeginRunning(2);
  Done(1, 100);
  int64_t batches = 0;
  Pass(milliseconds(200000), [&] { Beat(0, 100, {}, ++batches), Beat(1, 100); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Done(0, 100);
  coordinator_->Finish();
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kFinished);
}

TEST_F(CoordinatorPace, WhenAllWaitAndNothingMovesTheRunIsStuck) {
  BeginRunning(2);
  int64_t progress = 0;
  Pass(milliseconds(10000), [&] {
    Beat(0, 3, {1}, ++progress);  // bytes still arrive: slow, not stuck
    Beat(1, 3, {0}, 7);
  });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  Pass(milliseconds(6100), [&] {
    Beat(0, 3, {1}, progress);
    Beat(1, 3, {0}, 7);
  });
  EXPECT_EQ(Class(), Failure::kPeerLost);
  EXPECT_THAT(Message(), AllOf(HasSubstr("stuck"), HasSubstr("rank 0 waits for 1 in round 3"),
                               HasSubstr("rank 1 waits for 0 in round 3")));
}

// Its connection to rank 0 may be broken for a moment, in which it goes on, as the others have.
TEST_F(CoordinatorPace, NobodyIsStuckWhoHasNotBeenHeardSince) {
  BeginRunning(2);
  Pass(milliseconds(5500), [&] {
    Beat(0, 3, {1}, 7);
    Beat(1, 3, {0}, 7);
  });
  Pass(milliseconds(1500), [&] { Beat(0, 3, {1}, 7); });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Pass(milliseconds(700), [&] {
    Beat(0, 3, {1}, 7);
    Beat(1, 3, {0}, 7);
  });
  EXPECT_THAT(Message(), HasSubstr("stuck")) << "it says that it still waits";
}

// Who connects has a time-out and a reason of its own.
TEST_F(CoordinatorPace, ARunInWhichANodeIsConnectingIsNotStuck) {
  BeginRunning(3);
  Pass(milliseconds(30000), [&] {
    Beat(0, 0);  // connecting to rank 2
    Beat(1, 0, {0}, 7);
    Beat(2, 0, {0}, 7);
  });
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  // It gives up; its heartbeat may say so before its report does.
  const auto wait = [&] {
    Beat(0, 0, {2});
    Beat(1, 0, {0}, 7);
    Beat(2, 0, {0}, 7);
  };
  Pass(kTick, wait);
  Fail(0, 2, "rank 0 lost rank 2 in round 0: rank 2 (10.0.0.3:7000) could not be reached",
       Failure::kPeerLost);
  Pass(milliseconds(1000), wait);
  EXPECT_THAT(Message(), HasSubstr("rank 2 (10.0.0.3:7000) could not be reached"));
}

// Two that no longer hear each other take --peer-timeout and a few heartbeats to notice,
// and then name each other: which says more.
TEST_F(CoordinatorPace, NeighboursThatLoseEachOtherSpeakBeforeTheRunIsCalledStuck) {
  BeginRunning(2);
  const auto wait = [&] {
    Beat(0, 3, {1}, 7);
    Beat(1, 3, {0}, 7);
  };
  Pass(milliseconds(4000) * 4 / 3, wait);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
  Fail(0, 1, "rank 0 lost rank 1 in round 3: it is silent", Failure::kPeerLost);
  Pass(milliseconds(1100), wait);
  EXPECT_THAT(Message(), HasSubstr("rank 0 lost rank 1 in round 3: it is silent"));
}

}  // namespace
}  // namespace grapevine
