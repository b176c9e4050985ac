#include "node/control/control_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

control::Directive Beat() {
  control::Directive directive;
  directive.mutable_beat();
  return directive;
}

control::Directive Roster() {
  control::Directive directive;
  directive.mutable_roster()->set_run_id("run-1");
  SetAddresses({"node1:29500"}, directive.mutable_roster());
  return directive;
}

control::Directive Abort(const std::string& message, int failure) {
  control::Directive directive;
  directive.mutable_abort()->set_message(message);
  directive.mutable_abort()->set_failure(failure);
  return directive;
}

class ControlLineTest : public ::testing::Test {
 protected:
  // Pulse after pulse, of which none is answered.
  bool Silence(milliseconds duration) {
    bool alive = true;
    for (milliseconds passed{0}; passed < duration; passed += milliseconds(500)) {
      now_ += milliseconds(500);
      alive = line_.OnPulse(now_);
    }
    return alive;
  }

  control::Registration Connect() {
    control::Registration registration;
    line_.OnConnecting(now_, &registration);
    return registration;
  }

  SteadyTime now_{};
  ControlLine line_{
      {.coordinator = "node1:29500", .peer_timeout = milliseconds(4000), .rounds = 10}, now_};
};

TEST(ControlLine, HandsOutEachCutOnceAndRefusesOneThatDoesNotAscend) {
  const SteadyTime now{};
  ControlLine line({.coordinator = "node1:29500", .rounds = 10, .sharing = 1}, now);
  line.OnDirective(Roster(), now);
  control::Directive cut;
  for (const Round round : {3, 4}) {
    cut.mutable_cut()->set_round(round);
    line.OnDirective(cut, now);
  }
  EXPECT_EQ(line.TakeCut(), 3);
  EXPECT_EQ(line.TakeCut(), 4);
  EXPECT_EQ(line.TakeCut(), std::nullopt);
  line.OnDirective(cut, now);
  ASSERT_TRUE(line.verdict().has_value());
  EXPECT_EQ(FailureOf(*line.verdict()), Failure::kPeerLost);
  EXPECT_THAT(line.verdict()->message(),
              HasSubstr("rank 0 (the coordinator at node1:29500) sent round 4 to measure"));
}

TEST_F(ControlLineTest, RemembersTheRosterAndHandsOutEachLimitOnce) {
  line_.OnDirective(Roster(), now_);
  EXPECT_EQ(line_.roster()->run_id(), "run-1");
  control::Directive moved;
  moved.mutable_round_limit()->set_limit(7);
  line_.OnDirective(moved, now_);
  EXPECT_EQ(line_.TakeLimit()->limit(), 7);
  EXPECT_FALSE(line_.TakeLimit().has_value());
}

// None is lost: each says of which batch its rounds are.
TEST(ControlLine, HandsOutTheLimitsOfGrowingBatchesInOrder) {
  const SteadyTime now{};
  ControlLine line({.coordinator = "node1:29500", .rounds = 40, .largest_growth = 4}, now);
  line.OnDirective(Roster(), now);
  const auto move = [&](Round limit, bool final, int64_t growth) {
    control::Directive moved;
    moved.mutable_round_limit()->set_limit(limit);
    moved.mutable_round_limit()->set_final(final);
    moved.mutable_round_limit()->set_growth(growth);
    line.OnDirective(moved, now);
  };
  move(12, false, 1);
  move(15, false, 2);
  move(15, false, 2);  // says nothing new
  move(13, false, 2);  // nor does this
  move(17, true, 4);
  move(17, true, 4);
  for (const auto& [limit, growth] : {std::pair(12, 1), {15, 2}, {17, 4}}) {
    const std::optional<control::RoundLimit> taken = line.TakeLimit();
    ASSERT_TRUE(taken.has_value());
    EXPECT_EQ(taken->limit(), limit);
    EXPECT_EQ(taken->growth(), growth);
    EXPECT_EQ(taken->final(), limit == 17);
  }
  EXPECT_FALSE(line.TakeLimit().has_value());
  move(18, true, 2);
  ASSERT_TRUE(line.verdict().has_value());
  EXPECT_EQ(FailureOf(*line.verdict()), Failure::kPeerLost);
  EXPECT_THAT(line.verdict()->message(), HasSubstr("sent batches of 2 first ones up to round 18"));
}

TEST_F(ControlLineTest, TheFirstVerdictStands) {
  line_.OnDirective(Abort("rank 2 died", 6), now_);
  line_.OnDirective(Abort("rank 3 died", 6), now_);
  line_.OnClosed("closed", now_);
  line_.End(absl::OkStatus());
  EXPECT_EQ(line_.verdict()->message(), "rank 2 died");
  EXPECT_EQ(FailureOf(*line_.verdict()), Failure::kPeerLost);
}

// An exit code has eight bits: 256 would end a failed run with 0, and 300 with 44.
TEST(FailedWith, ANumberFromTheNetworkIsADocumentedFailure) {
  for (const int number : {0, 256, -256, 512, 300, 9}) {
    EXPECT_EQ(ExitCode(FailedWith("odd", number)), 1) << number;
  }
  EXPECT_EQ(ExitCode(FailedWith("disk full", 4)), 4);
}

TEST_F(ControlLineTest, AVerdictFitsATerminal) {
  line_.OnDirective(Abort("gone\033[2J\n", 6), now_);
  EXPECT_EQ(line_.verdict()->message(), "gone\\x1b[2J\\x0a");
}

TEST_F(ControlLineTest, ADirectiveThatCannotBeObeyedNamesRankZero) {
  control::Directive finish;
  finish.mutable_finish();
  line_.OnDirective(finish, now_);
  ASSERT_TRUE(line_.verdict().has_value());
  EXPECT_EQ(FailureOf(*line_.verdict()), Failure::kPeerLost);
  EXPECT_EQ(line_.verdict()->message(),
            "rank 0 (the coordinator at node1:29500) ended the run before it began; run the same "
            "grapevine on every host");
}

TEST_F(ControlLineTest, RankZerosSilenceIsNoticedOnceItHasSpoken) {
  EXPECT_TRUE(Silence(milliseconds(60000)));  // it may not be there yet
  Connect();
  line_.OnDirective(Roster(), now_);
  Silence(milliseconds(3500));
  line_.OnDirective(Beat(), now_);
  Silence(milliseconds(3500));
  EXPECT_FALSE(line_.verdict().has_value());
  EXPECT_FALSE(Silence(milliseconds(500)));
  EXPECT_THAT(std::string(line_.verdict()->message()),
              HasSubstr("rank 0 (the coordinator at node1:29500) is silent: last heard 4.0 s ago"));
  EXPECT_EQ(FailureOf(*line_.verdict()), Failure::kPeerLost);
}

TEST_F(ControlLineTest, ASilenceWhileGatheringEndsTheConnectionAlone) {
  line_.OnDirective(Beat(), now_);
  EXPECT_FALSE(Silence(milliseconds(4000)));
  EXPECT_FALSE(line_.verdict().has_value());
}

TEST_F(ControlLineTest, ANodeThatStoodStillItselfDoesNotBlameRankZero) {
  line_.OnDirective(Roster(), now_);
  Silence(milliseconds(1500));
  now_ += milliseconds(60000);
  EXPECT_TRUE(line_.OnPulse(now_));
  Silence(milliseconds(3500));  // rank 0 may have stood still as well, and wakes later
  EXPECT_FALSE(line_.verdict().has_value());
  Silence(milliseconds(500));
  EXPECT_TRUE(line_.verdict().has_value());
}

TEST(ControlLine, AStandstillMakesNobodyForgetWhoWasLatelyInTheRun) {
  constexpr milliseconds kPeerTimeout{4000};
  SteadyTime now{};
  ControlLine line({.coordinator = "node1:29500",
                    .peer_timeout = kPeerTimeout,
                    .world_size = 4,
                    .rounds = 10,
                    .changes_views = true},
                   now);
  control::Directive roster = Roster();
  SetAddresses({"node1:29500", "node2:1", "node3:1", "node4:1"}, roster.mutable_roster());
  line.OnDirective(roster, now);
  control::Directive prepare, two;
  prepare.mutable_prepare()->set_ballot(1);
  line.OnDirective(prepare, now);
  two.mutable_view()->set_epoch(1);
  two.mutable_view()->set_ballot(1);
  two.mutable_view()->set_from(5);
  SetMembers(std::vector<Member>{0, 1}, two.mutable_view());
  line.OnDirective(two, now);
  ASSERT_EQ(line.verdict(), std::nullopt) << *line.verdict();
  ASSERT_EQ(line.lately().Most(std::chrono::hours(1), kPeerTimeout), 2);
  now += milliseconds(60000);
  line.OnPulse(now);
  EXPECT_EQ(line.lately().Most(now.time_since_epoch(), kPeerTimeout), 4);
}

// What was under way has its time anew as well, whatever comes first.
TEST_F(ControlLineTest, ANodeThatStoodStillItselfGivesUpAnAttemptInTime) {
  line_.OnDirective(Roster(), now_);
  line_.OnClosed("reset", now_);
  now_ += milliseconds(60000);
  Connect();
  EXPECT_TRUE(line_.OnPulse(now_));
  EXPECT_FALSE(Silence(milliseconds(1000))) << "an attempt has half a second";
  EXPECT_FALSE(line_.verdict().has_value());
}

TEST_F(ControlLineTest, ABrokenConnectionIsMadeAgainOnceTheRunHasBegun) {
  Connect();
  line_.OnClosed("connection refused", now_);
  EXPECT_FALSE(line_.reconnect_at().has_value()) << "whoever joins knows when to try again";
  line_.OnDirective(Roster(), now_);
  line_.OnClosed("connection reset", now_);
  EXPECT_TRUE(line_.interrupted());
  EXPECT_EQ(line_.reconnect_at(), now_);
  EXPECT_EQ(Connect().call(), 2u);
  EXPECT_FALSE(line_.reconnect_at().has_value());
  line_.OnClosed("connection refused", now_);
  EXPECT_GT(line_.reconnect_at(), now_) << "not at once again";
  EXPECT_EQ(Connect().run_id(), "run-1");
  line_.OnDirective(Beat(), now_);
  EXPECT_FALSE(line_.interrupted());
  EXPECT_FALSE(line_.verdict().has_value());
}

TEST_F(ControlLineTest, ABrokenConnectionToAProcessThatIsGoneIsADeath) {
  line_.OnDirective(Roster(), now_);
  line_.OnGone("nobody listens there any more");
  EXPECT_FALSE(line_.verdict().has_value()) << "its connection stands";
  line_.OnClosed("connection reset", now_);
  line_.OnGone("nobody listens there any more");
  EXPECT_THAT(std::string(line_.verdict()->message()),
              HasSubstr("died: its connection broke (connection reset), and nobody listens there "
                        "any more;"));
}

TEST_F(ControlLineTest, ABrokenConnectionThatIsNotMadeAgainIsASilence) {
  line_.OnDirective(Roster(), now_);
  line_.OnClosed("connection reset", now_);
  EXPECT_TRUE(Silence(milliseconds(3500)));
  EXPECT_FALSE(Silence(milliseconds(500)));
  EXPECT_THAT(std::string(line_.verdict()->message()),
              AllOf(HasSubstr("is silent: last heard 4.0 s ago; its connection broke (connection "
                              "reset), and no other was made"),
                    HasSubstr("--peer-timeout=4s")));
}

TEST_F(ControlLineTest, AConnectionThatTheNetworkHasForgottenIsGivenUpForAnother) {
  line_.OnDirective(Roster(), now_);
  EXPECT_TRUE(Silence(milliseconds(1500)));
  EXPECT_FALSE(Silence(milliseconds(500)));
  line_.OnClosed("cancelled", now_);
  Connect();
  EXPECT_FALSE(Silence(milliseconds(500))) << "an attempt has its time";
  line_.OnClosed("cancelled", now_);
  Connect();
  line_.OnDirective(Beat(), now_);
  EXPECT_TRUE(Silence(milliseconds(1500)));
  EXPECT_FALSE(line_.verdict().has_value());
}

TEST_F(ControlLineTest, ReportsAreKeptUntilRankZeroHasThemAndDirectivesTakenOnce) {
  line_.OnDirective(Roster(), now_);
  for (const Round round : {1, 2, 3}) {
    control::Report report;
    report.mutable_done()->set_round_limit(round);
    EXPECT_EQ(line_.Add(report).number(), static_cast<uint64_t>(round));
  }
  control::Directive moved;
  moved.set_number(1);
  moved.set_received(2);
  moved.mutable_round_limit()->set_limit(7);
  line_.OnDirective(moved, now_);
  ASSERT_EQ(line_.unacknowledged().size(), 1u);
  EXPECT_EQ(line_.unacknowledged()[0].done().round_limit(), 3);
  EXPECT_TRUE(line_.TakeLimit().has_value());
  line_.OnClosed("connection reset", now_);
  Connect();
  moved.mutable_round_limit()->set_limit(8);
  line_.OnDirective(moved, now_);
  EXPECT_FALSE(line_.TakeLimit().has_value()) << "it has come before";
  moved.set_number(3);
  line_.OnDirective(moved, now_);
  EXPECT_THAT(std::string(line_.verdict()->message()), HasSubstr("sent directive 3 after 1"));
}

TEST_F(ControlLineTest, RankZeroCannotHaveWhatWasNotSaid) {
  line_.OnDirective(Roster(), now_);
  control::Directive beat = Beat();
  beat.set_received(1);
  line_.OnDirective(beat, now_);
  EXPECT_THAT(std::string(line_.verdict()->message()), HasSubstr("has heard 1 reports"));
}

TEST_F(ControlLineTest, ANodesOwnFailureStandsWhereThereIsNoVerdict) {
  const absl::Status own = absl::InternalError("its own");
  EXPECT_EQ(line_.Conclude(own), own);
  line_.OnDirective(Abort("the cause", 6), now_);
  EXPECT_EQ(line_.Conclude(own).message(), "the cause");
}

TEST_F(ControlLineTest, AFinishedRunDoesNotExcuseAFailure) {
  line_.OnDirective(Roster(), now_);
  control::Directive finish;
  finish.mutable_finish();
  line_.OnDirective(finish, now_);
  ASSERT_TRUE(line_.verdict()->ok());
  EXPECT_EQ(line_.Conclude(absl::InternalError("its own")).message(), "its own");
}

// Rank 0's role may have moved meanwhile: the successor has told the limit as it was.
TEST(ControlLine, TheLimitOfAnOpenEndedRunComesInwardsOnce) {
  const SteadyTime now{};
  ControlLine line({.coordinator = "node1:29500", .rounds = 100, .open_ended = true}, now);
  line.OnDirective(Roster(), now);
  const auto told = [&line, now](Round limit, bool final) {
    control::Directive directive;
    directive.mutable_round_limit()->set_limit(limit);
    directive.mutable_round_limit()->set_final(final);
    line.OnDirective(directive, now);
    const auto moved = line.TakeLimit();
    return moved ? moved->limit() : -1;
  };
  EXPECT_EQ(told(100, false), 100);
  EXPECT_EQ(told(24, false), 24);
  EXPECT_EQ(told(24, false), -1);
  EXPECT_EQ(told(100, false), -1) << "it is closed";
  EXPECT_EQ(told(24, true), 24);
  EXPECT_EQ(told(24, true), -1);
}

}  // namespace
}  // namespace grapevine
