#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/control/control_line.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr DirectiveContext kGathering{.world_size = 2, .rounds = 10, .joined = false};
constexpr DirectiveContext kRunning{.world_size = 2, .rounds = 10, .joined = true};
constexpr DirectiveContext kSharing{
    .world_size = 2, .rounds = 10, .sharing = 2, .cut = 4, .joined = true};

control::Directive RosterOf(const std::vector<std::string>& addresses, Round limit = 10) {
  control::Directive directive;
  SetAddresses(addresses, directive.mutable_roster());
  directive.mutable_roster()->set_round_limit(limit);
  return directive;
}

constexpr DirectiveContext kGrowing{
    .world_size = 2, .rounds = 10, .growth = 4, .largest_growth = 8, .joined = true};

control::Directive LimitOf(Round limit, int64_t growth = 0) {
  control::Directive directive;
  directive.mutable_round_limit()->set_limit(limit);
  directive.mutable_round_limit()->set_growth(growth);
  return directive;
}

control::Directive CutOf(Round round) {
  control::Directive directive;
  directive.mutable_cut()->set_round(round);
  return directive;
}

std::string Objection(const control::Directive& directive, const DirectiveContext& context) {
  return std::string(CheckDirective(directive, context).message());
}

TEST(Directive, WhatFitsIsObeyed) {
  EXPECT_EQ(Objection(RosterOf({":1", "[::1]:2"}, 0), kGathering), "");
  EXPECT_EQ(Objection(LimitOf(10), kRunning), "");
  control::Directive beat, abort, finish;
  beat.mutable_beat();
  abort.mutable_abort();
  finish.mutable_finish();
  EXPECT_EQ(Objection(beat, kGathering), "");
  EXPECT_EQ(Objection(abort, kGathering), "");
  EXPECT_EQ(Objection(finish, kRunning), "");
}

TEST(Directive, ARosterMustFitTheRun) {
  EXPECT_EQ(Objection(RosterOf({}), kGathering), "sent a roster of 0 addresses for 2 nodes");
  EXPECT_EQ(Objection(RosterOf({"a:1", "b:2", "c:3"}), kGathering),
            "sent a roster of 3 addresses for 2 nodes");
  for (const char* address : {"", "b", "b:0", "b:65536", "b c:2"}) {
    EXPECT_EQ(Objection(RosterOf({"a:1", address}), kGathering),
              "sent \"" + std::string(address) + "\" as the address of rank 1");
  }
  EXPECT_EQ(Objection(RosterOf({"a:1", "\033[2J"}), kGathering),
            "sent \"\\x1b[2J\" as the address of rank 1");
  EXPECT_EQ(Objection(RosterOf({"a:1", "b:2"}), kRunning), "sent a second roster");
  EXPECT_THAT(Objection(RosterOf({"a:1", "b:2"}, 11), kGathering), HasSubstr("11 as the limit"));
}

TEST(Directive, LimitsLieWithinTheRun) {
  EXPECT_EQ(Objection(LimitOf(-1), kRunning), "sent -1 as the limit of a run of 10 rounds");
  EXPECT_EQ(Objection(LimitOf(11), kRunning), "sent 11 as the limit of a run of 10 rounds");
  EXPECT_THAT(Objection(LimitOf(5), kGathering), HasSubstr("before it began"));
}

TEST(Directive, BatchesGrowWithinBoundsAndWhereTheyMay) {
  EXPECT_EQ(Objection(LimitOf(7, 4), kGrowing), "");
  EXPECT_EQ(Objection(LimitOf(7, 8), kGrowing), "");
  for (const int64_t growth : {-1, 0, 1, 3, 9}) {
    EXPECT_EQ(Objection(LimitOf(7, growth), kGrowing),
              "sent batches of " + std::to_string(growth) +
                  " first ones up to round 7, after 4 and of at most 8");
  }
  EXPECT_THAT(Objection(LimitOf(11, 4), kGrowing), HasSubstr("11 as the limit"));
  EXPECT_EQ(Objection(LimitOf(7, 2), kRunning),
            "sent batches of 2 first ones up to round 7, after 0 and of at most 0");
  EXPECT_THAT(Objection(LimitOf(7, 2), kSharing), HasSubstr("sent batches of 2"));
}

TEST(Directive, ANodeThatSharesABudgetMayDoAllOfIt) {
  EXPECT_EQ(Objection(LimitOf(20), kSharing), "");
  EXPECT_EQ(Objection(LimitOf(21), kSharing),
            "sent 21 as the limit of a run of 10 rounds of each worker");
}

TEST(Directive, RoundsToMeasureAscendWithinTheRun) {
  EXPECT_EQ(Objection(CutOf(5), kSharing), "");
  EXPECT_EQ(Objection(CutOf(4), kSharing), "sent round 4 to measure, after round 4 of 10");
  EXPECT_EQ(Objection(CutOf(-1), kSharing), "sent round -1 to measure, after round 4 of 10");
  EXPECT_EQ(Objection(CutOf(11), kSharing), "sent round 11 to measure, after round 4 of 10");
  EXPECT_EQ(Objection(CutOf(5), kRunning),
            "sent a round to measure, where each node knows its own");
  EXPECT_EQ(Objection(CutOf(5), kGathering), "measured the run before it began");
}

TEST(Directive, NothingEndsBeforeItBegan) {
  control::Directive finish;
  finish.mutable_finish();
  EXPECT_EQ(Objection(finish, kGathering), "ended the run before it began");
}

TEST(Directive, CheckpointsAreCalledForInTheirOrder) {
  const Round last = 4;
  DirectiveContext context = kRunning;
  context.called = &last;
  context.ballot = 2;
  control::Directive call;
  call.mutable_checkpoint_at()->set_ballot(2);
  EXPECT_EQ(Objection(call, context), "") << "the run ends before another one";
  call.mutable_checkpoint_at()->set_round(5);
  EXPECT_EQ(Objection(call, context), "");
  for (const Round round : {-1, 0, 4, 11}) {
    call.mutable_checkpoint_at()->set_round(round);
    EXPECT_EQ(Objection(call, context),
              "calls for a checkpoint of round " + std::to_string(round) +
                  " of 10 under ballot 2, after that of round 4 and ballot 2");
  }
  call.mutable_checkpoint_at()->set_round(5);
  EXPECT_THAT(Objection(call, kRunning), HasSubstr("of which this run has none"));
  context.ballot = 3;
  EXPECT_THAT(Objection(call, context), HasSubstr("under ballot 2, after"))
      << "an answer to another";
}

TEST(Directive, AnUnknownOneIsNotPassedOver) {
  EXPECT_THAT(Objection(control::Directive(), kRunning), HasSubstr("does not know"));
}

control::Directive ResumedRoster() {
  control::Directive directive = RosterOf({":1", ":2"});
  control::Resumed& resumed = *directive.mutable_roster()->mutable_resumed();
  resumed.set_round(4);
  resumed.add_parts();
  resumed.add_parts();
  return directive;
}

TEST(Directive, ARunGoesOnFromWhereItCanHaveBeen) {
  EXPECT_EQ(Objection(ResumedRoster(), kGathering), "");
  control::Directive directive = ResumedRoster();
  directive.mutable_roster()->mutable_resumed()->set_round(11);
  EXPECT_EQ(Objection(directive, kGathering), "goes on from round 11 of 10, after 0 ns");
  directive = ResumedRoster();
  directive.mutable_roster()->mutable_resumed()->set_time_ns(-1);
  EXPECT_THAT(Objection(directive, kGathering), HasSubstr("after -1 ns"));
  directive = ResumedRoster();
  directive.mutable_roster()->mutable_resumed()->add_parts();
  EXPECT_EQ(Objection(directive, kGathering), "goes on from the parts of 3 of 2 nodes");
  directive = ResumedRoster();
  *directive.mutable_roster()->mutable_resumed()->add_settled() = LimitOf(4, 2).round_limit();
  EXPECT_THAT(Objection(directive, kGathering), HasSubstr("batches of 2 first ones"));
  DirectiveContext growing = kGathering;
  growing.growth = 1;
  growing.largest_growth = 8;
  EXPECT_EQ(Objection(directive, growing), "");
  *directive.mutable_roster()->mutable_resumed()->add_settled() = LimitOf(8, 1).round_limit();
  EXPECT_THAT(Objection(directive, growing), HasSubstr("batches of 1 first ones"));
}

TEST(Directive, WhoHasTrainedFromWhichRoundOnIsInTheOrderOfRounds) {
  const auto objection = [](std::vector<std::pair<int64_t, int32_t>> history) {
    control::Directive directive = ResumedRoster();
    for (const auto& [from, workers] : history) {
      auto& since = *directive.mutable_roster()->mutable_resumed()->add_history();
      since.set_from(from);
      since.set_workers(workers);
    }
    return Objection(directive, kGathering);
  };
  EXPECT_EQ(objection({{1, 3}, {4, 2}}), "");
  EXPECT_EQ(objection({{2, 3}, {2, 2}}),
            "says that 2 workers train from round 2 on, after round 2 of 4");
  EXPECT_THAT(objection({{-1, 3}}), HasSubstr("from round -1 on"));
  EXPECT_THAT(objection({{5, 3}}), HasSubstr("from round 5 on"));
  EXPECT_THAT(objection({{3, 0}}), HasSubstr("that 0 workers"));
}

TEST(Directive, ANodeHasSentAndReceivedWhatCanBeCounted) {
  for (const int64_t bytes : {int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    const std::string told = std::to_string(bytes);
    control::Directive directive = ResumedRoster();
    directive.mutable_roster()->mutable_resumed()->mutable_parts(1)->set_bytes_sent(bytes);
    EXPECT_EQ(Objection(directive, kGathering),
              "goes on after rank 1 has sent " + told + " bytes and received 0");
    directive = ResumedRoster();
    directive.mutable_roster()->mutable_resumed()->mutable_parts(1)->set_bytes_received(bytes);
    EXPECT_EQ(Objection(directive, kGathering),
              "goes on after rank 1 has sent 0 bytes and received " + told);
    directive = ResumedRoster();
    directive.mutable_roster()->mutable_resumed()->mutable_parts(1)->set_steps(bytes);
    EXPECT_EQ(Objection(directive, kGathering), "goes on after rank 1 has done " + told + " steps");
  }
}

TEST(Directive, AViewIsForACheckpointWhereNodesShareABudget) {
  const View first = FirstView(2);
  control::Directive directive;
  control::View& view = *directive.mutable_view();
  view.set_epoch(1);
  view.set_ballot(1);
  SetMembers(std::vector<Member>{0, 1}, &view);
  DirectiveContext context = kSharing;
  const Round renewed = 3;
  context.view = &first;
  context.renewed = &renewed;
  context.ballot = 1;
  for (const Round round : {0, 4, 10}) {
    view.set_checkpoint(round);
    EXPECT_EQ(Objection(directive, context), "") << round;
  }
  for (const Round round : {-1, 3, 11}) {
    view.set_checkpoint(round);
    EXPECT_THAT(Objection(directive, context), HasSubstr("sent view 1")) << round;
  }
  context.renewed = nullptr;
  view.set_checkpoint(4);
  EXPECT_THAT(Objection(directive, context), HasSubstr("sent view 1"));
}

TEST(Directive, ACheckpointIsOfALaterRoundThanTheLast) {
  control::Directive directive;
  directive.mutable_checkpoint_done()->set_round(4);
  EXPECT_EQ(Objection(directive, kRunning), "");
  EXPECT_EQ(Objection(directive, kGathering), "completed a checkpoint before the run began");
  DirectiveContext after = kRunning;
  after.checkpoint = 4;
  EXPECT_EQ(Objection(directive, after),
            "completed the checkpoint of round 4, after that of 4, of 10");
  DirectiveContext moved = after;
  moved.role_moves = true;
  EXPECT_EQ(Objection(directive, moved), "") << "another one has completed it before";
  directive.mutable_checkpoint_done()->set_round(11);
  EXPECT_THAT(Objection(directive, after), HasSubstr("of round 11, after"));
}

TEST(Directive, NodesCoastInOpenEndedRunsAlone) {
  control::Directive directive;
  directive.mutable_coast()->set_below(11);
  DirectiveContext open = kRunning;
  open.open_ended = true;
  EXPECT_EQ(Objection(directive, kRunning),
            "lets nodes go on without gradients, in a run that is not open-ended");
  EXPECT_EQ(Objection(directive, kGathering), "let nodes coast before the run began");
  EXPECT_EQ(Objection(directive, open), "lets nodes coast below round 11 of at most 10");
  directive.mutable_coast()->set_below(10);
  EXPECT_EQ(Objection(directive, open), "");
}

}  // namespace
}  // namespace grapevine
