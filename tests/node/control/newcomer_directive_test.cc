// Views with newcomers, and what a newcomer is told, from a rank 0 that may say anything.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/control/control_line.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

using Spoil = std::function<void(control::View*)>;

control::View ViewWith(uint32_t epoch, Round from, const std::vector<Member>& members,
                       const std::vector<Member>& newcomers = {}) {
  control::View view;
  view.set_epoch(epoch);
  view.set_from(from);
  view.set_ballot(epoch);
  SetMembers(members, &view);
  for (const Member member : newcomers) {
    control::Newcomer& newcomer = *view.add_newcomers();
    newcomer.set_rank(member);
    newcomer.set_process(77);
    newcomer.set_address("10.0.1.1:7000");
  }
  return view;
}

void SetRuns(const std::vector<int>& runs, control::View* view) {
  view->mutable_member_runs()->Assign(runs.begin(), runs.end());
}

// Of four, of which rank 2 was left out from round 5 on.
class NewcomerDirective : public ::testing::Test {
 protected:
  static std::string Objection(const control::Directive& directive,
                               const DirectiveContext& context) {
    return std::string(CheckDirective(directive, context).message());
  }
  std::string ObjectionToView(const control::View& view) const {
    control::Directive directive;
    *directive.mutable_view() = view;
    return Objection(directive,
                     {.world_size = 4, .rounds = 10, .joined = true, .view = &last_, .ballot = 9});
  }
  void ExpectRefusedView(const Spoil& spoil) const {
    control::View view = ViewWith(2, 7, {0, 1, 2, 3}, {2});
    ASSERT_EQ(ObjectionToView(view), "");
    spoil(&view);
    EXPECT_THAT(ObjectionToView(view), HasSubstr("sent view")) << view.ShortDebugString();
  }

  static control::Directive Roster(const control::View& view,
                                   const std::vector<control::View>& before) {
    control::Directive directive;
    control::Roster& roster = *directive.mutable_roster();
    SetAddresses({"a:1", "b:1", "c:1", "d:1"}, &roster);
    roster.set_round_limit(10);
    *roster.mutable_joined()->mutable_view() = view;
    roster.mutable_joined()->mutable_before()->Assign(before.begin(), before.end());
    return directive;
  }
  // To rank 2.
  std::string ObjectionToRoster(const control::Directive& directive, bool resilient = true) const {
    const View first = FirstView(4);
    return Objection(
        directive,
        {.world_size = 4, .rank = 2, .rounds = 10, .view = resilient ? &first : nullptr});
  }
  void ExpectRefusedRoster(const std::function<void(control::Joined*)>& spoil,
                           const std::string& why) const {
    control::Directive directive =
        Roster(ViewWith(4, 7, {0, 2, 3}, {2}), {ViewWith(1, 3, {0, 1, 3}), ViewWith(3, 5, {0, 3})});
    ASSERT_EQ(ObjectionToRoster(directive), "");
    spoil(directive.mutable_roster()->mutable_joined());
    EXPECT_THAT(ObjectionToRoster(directive), HasSubstr(why)) << directive.ShortDebugString();
  }

  const View last_{.epoch = 1, .from = 5, .members = {0, 1, 3}, .ballot = 1};
};

TEST_F(NewcomerDirective, WhoHasNeverComeHasNoAddress) {
  control::Directive directive = Roster(ViewWith(4, 7, {0, 2, 3}, {2}), {});
  control::Roster& roster = *directive.mutable_roster();
  SetAddresses({"a:1", "", "c:1", "d:1"}, &roster);
  EXPECT_EQ(ObjectionToRoster(directive), "");
  SetAddresses({"a:1", "", "c:1", ""}, &roster);
  EXPECT_THAT(ObjectionToRoster(directive), HasSubstr("address of rank 3")) << "a member";
  roster.clear_joined();
  EXPECT_EQ(ObjectionToRoster(directive), "") << "of a run that begins";
  EXPECT_THAT(ObjectionToRoster(directive, /*resilient=*/false), HasSubstr("address of rank 1"));
  SetAddresses({"a:1", "", "", ""}, &roster);
  EXPECT_THAT(ObjectionToRoster(directive), HasSubstr("address of rank 2")) << "this node";
}

TEST_F(NewcomerDirective, AHistoryThatCannotBeIsRefused) {
  const auto add = [](Round from, int workers) {
    return [=](control::Joined* joined) {
      control::Workers& since = *joined->add_history();
      since.set_from(from);
      since.set_workers(workers);
    };
  };
  ExpectRefusedRoster(add(3, 0), "0 workers train from round 3 on");
  ExpectRefusedRoster(add(8, 2), "2 workers train from round 8 on, after round -1 of 7");
  ExpectRefusedRoster(
      [&](control::Joined* joined) {
        add(3, 2)(joined);
        add(3, 4)(joined);
      },
      "4 workers train from round 3 on, after round 3");
}

TEST_F(NewcomerDirective, AViewMayLoseSomeAndTakeOthersIn) {
  EXPECT_EQ(ObjectionToView(ViewWith(2, 5, {0, 1, 2, 3}, {2})), "");
  EXPECT_EQ(ObjectionToView(ViewWith(2, 9, {0, 2, 3}, {2})), "");
  EXPECT_EQ(ObjectionToView(ViewWith(2, 9, {0, 1, 3})), "") << "one was turned away";
}

TEST_F(NewcomerDirective, AViewOfMembersThatCannotBeIsRefused) {
  for (const std::vector<int>& runs : std::vector<std::vector<int>>{
           {}, {0, 3, 1, 1}, {-1, 5}, {0, 5}, {0, 4, 4}, {0, 2, 3, 0, 3, 1}, {0, 1 << 30}}) {
    ExpectRefusedView([&](control::View* view) { SetRuns(runs, view); });
  }
}

TEST_F(NewcomerDirective, AViewOfNewcomersThatCannotBeIsRefused) {
  const auto add = [](Member member) {
    return [member](control::View* view) {
      control::Newcomer& newcomer = *view->add_newcomers();
      newcomer.set_rank(member);
      newcomer.set_address("10.0.1.1:7000");
    };
  };
  ExpectRefusedView(add(3));                                                // was a member
  ExpectRefusedView(add(2));                                                // twice
  ExpectRefusedView(add(0));                                                // unsorted
  ExpectRefusedView(add(5));                                                // out of range
  ExpectRefusedView([](control::View* view) { view->clear_newcomers(); });  // came unsaid
  ExpectRefusedView([](control::View* view) { view->mutable_newcomers(0)->set_rank(-1); });
  ExpectRefusedView([](control::View* view) {  // none who has a replica
    SetMembers(std::vector<Member>{2}, view);
  });
  for (const char* address : {"", "nonsense", "host:0", "host:99999", "a b:1"}) {
    ExpectRefusedView(
        [address](control::View* view) { view->mutable_newcomers(0)->set_address(address); });
  }
}

TEST_F(NewcomerDirective, AViewOutOfOrderIsRefused) {
  ExpectRefusedView([](control::View* view) { view->set_epoch(1); });
  ExpectRefusedView([](control::View* view) { view->set_epoch(3); });
  ExpectRefusedView([](control::View* view) { view->set_from(4); });
  ExpectRefusedView([](control::View* view) { view->set_from(11); });
  ExpectRefusedView([](control::View* view) { view->set_ballot(1); });
  ExpectRefusedView([](control::View* view) { view->set_ballot(10); });
}

// Averaged models are put together there.
TEST_F(NewcomerDirective, AViewIsLedByAMember) {
  ExpectRefusedView([](control::View* view) { view->set_lead(-1); });
  ExpectRefusedView([](control::View* view) { view->set_lead(4); });
  ExpectRefusedRoster([](control::Joined* joined) { joined->mutable_view()->set_lead(1); },
                      "takes this node in with view 4");
}

TEST_F(NewcomerDirective, WhoComesInIsANewcomerOfItsFirstView) {
  const auto refused = [this](const std::function<void(control::View*)>& spoil) {
    ExpectRefusedRoster([&](control::Joined* joined) { spoil(joined->mutable_view()); },
                        "takes this node in with view");
  };
  refused([](control::View* view) { view->clear_newcomers(); });
  refused([](control::View* view) { view->mutable_newcomers(0)->set_rank(3); });
  refused([](control::View* view) { view->mutable_newcomers(0)->set_address("host:0"); });
  refused([](control::View* view) { SetRuns({2, 2, 0, 1}, view); });
  refused([](control::View* view) { SetRuns({0, 1, 2, 1, 4, 1}, view); });
  refused([](control::View* view) { view->set_from(-1); });
  refused([](control::View* view) { view->set_from(10); });
  refused([](control::View* view) { SetMembers(std::vector<Member>{2}, view); });
}

TEST_F(NewcomerDirective, WhatWasBeforeMustFitIt) {
  const auto refused = [this](const std::function<void(control::View*)>& spoil) {
    ExpectRefusedRoster([&](control::Joined* joined) { spoil(joined->mutable_before(1)); },
                        "says that view");
  };
  refused([](control::View* view) { view->set_epoch(1); });
  refused([](control::View* view) { view->set_epoch(4); });
  refused([](control::View* view) { view->set_from(2); });
  refused([](control::View* view) { view->set_from(8); });
  refused([](control::View* view) { view->clear_member_runs(); });
  refused([](control::View* view) { SetRuns({0, 1, 3, 1, 9, 1}, view); });
  ExpectRefusedRoster([](control::Joined* joined) { joined->set_time_ns(-1); }, "after -1 ns");
}

TEST_F(NewcomerDirective, WhereTheRunEndsWithTheLostNobodyComesIn) {
  const control::Directive directive = Roster(ViewWith(1, 7, {0, 2}, {2}), {});
  EXPECT_THAT(ObjectionToRoster(directive, /*resilient=*/false),
              HasSubstr("takes this node in, where no run goes on without the lost"));
}

TEST_F(NewcomerDirective, ANewcomerGoesOnFromItsFirstView) {
  const SteadyTime now{};
  ControlLine line({.coordinator = "a:1",
                    .peer_timeout = std::chrono::milliseconds(4000),
                    .world_size = 4,
                    .rounds = 10,
                    .changes_views = true,
                    .rank = 2},
                   now);
  line.OnDirective(Roster(ViewWith(4, 7, {0, 2, 3}, {2}), {}), now);
  ASSERT_TRUE(line.roster().has_value());
  control::Directive prepare;
  prepare.mutable_prepare()->set_ballot(5);
  line.OnDirective(prepare, now);
  control::Directive view;
  *view.mutable_view() = ViewWith(5, 8, {0, 2});
  line.OnDirective(view, now);
  EXPECT_FALSE(line.verdict().has_value()) << line.verdict()->message();
  *view.mutable_view() = ViewWith(5, 8, {0});
  line.OnDirective(view, now);
  EXPECT_TRUE(line.verdict().has_value()) << "epochs ascend";
}

}  // namespace
}  // namespace grapevine
