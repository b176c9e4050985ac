// The launcher's decisions over fake children, users and clocks.
#include "node/launch/launch_plan.h"

#include <signal.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "random/keyed_random.h"
#include "tests/node/launch/wait_status.h"
#include "tests/testing/sightings.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Time = LaunchPlan::Time;

constexpr Time kNever = LaunchPlan::kNever;
constexpr Time kStart{};

// What a child would do by itself, and how it takes signals.
struct Nature {
  Time ends = kNever;
  int wait_status = 0;
  Time stops = kNever, goes_on = kNever;
  bool deaf = false;        // to all signals but SIGKILL
  milliseconds hearing{0};  // from a signal to its end
};

class FakeChild {
 public:
  explicit FakeChild(const Nature& nature) : nature_(nature) {}

  bool ended() const { return ended_.has_value(); }
  bool held() const { return held_; }
  bool killed() const { return killed_; }
  // Would have ended soon after it was told to.
  bool polite(milliseconds patience) const {
    return !nature_.deaf && nature_.hearing < patience && !was_held_;
  }
  const Nature& nature() const { return nature_; }

  Time NextEvent() const {
    if (ended()) return kNever;
    return std::min({held_ ? kNever : nature_.ends, nature_.stops, held_ ? nature_.goes_on : kNever,
                     killed_ ? kStart : kNever});
  }

  void Signal(int signal, Time now) {
    ASSERT_FALSE(ended()) << "a signal to a process that is gone";
    if (signal == SIGKILL) {
      killed_ = true;
    } else if (signal == SIGCONT) {
      held_ = false;
    } else if (!nature_.deaf && now + nature_.hearing < nature_.ends) {
      nature_.ends = now + nature_.hearing;
      nature_.wait_status = Exited(143);
    }
  }

  // Its wait status once it has ended.
  std::optional<int> Live(Time now) {
    if (killed_) return ended_ = Killed(SIGKILL);
    if (now >= nature_.stops) {
      nature_.stops = kNever;
      held_ = was_held_ = true;
    }
    if (held_ && now >= nature_.goes_on) {
      nature_.goes_on = kNever;
      held_ = false;
    }
    if (!held_ && now >= nature_.ends) ended_ = nature_.wait_status;
    return ended_;
  }

 private:
  Nature nature_;
  bool held_ = false, was_held_ = false, killed_ = false;
  std::optional<int> ended_;
};

struct UserSignal {
  Time at;
  int signal;
};

// A launch from its first child to its end, in virtual time.
class World {
 public:
  World(const LaunchPlanOptions& options, std::vector<Nature> natures, Time listens,
        std::vector<UserSignal> user)
      : options_(options),
        natures_(std::move(natures)),
        listens_(listens),
        user_(std::move(user)),
        plan_(options, kStart) {}

  // False when nothing would happen any more.
  bool Run() {
    constexpr int kMaxSteps = 10000;
    for (int step = 0; step < kMaxSteps; ++step) {
      Step();
      if (plan_.over()) return true;
      const Time next = NextEvent();
      if (next == kNever) return false;
      now_ = std::max(now_, next);
    }
    ADD_FAILURE() << "the launcher turns in circles";
    return false;
  }

  void Tell(int signal) { user_.push_back({now_, signal}); }

  LaunchPlan& plan() { return plan_; }
  Time now() const { return now_; }
  const std::vector<FakeChild>& children() const { return children_; }
  // When the launcher first had a reason to end.
  Time first_trouble() const { return first_trouble_; }
  Time first_good_end() const { return first_good_end_; }
  bool forced_by_user() const { return forced_by_user_; }
  // Rank 0 did not listen: the launcher's own failure.
  bool failed_by_itself() const { return children_.size() < natures_.size(); }
  const std::vector<std::string>& reasons() const { return reasons_; }
  int restarts() const { return restarts_; }

 private:
  void Step() {
    while (!user_.empty() && now_ >= user_.front().at) {
      if (first_signal_ && user_.front().signal != SIGHUP) forced_by_user_ = true;
      first_signal_ = true;
      Trouble();
      plan_.OnSignal(user_.front().signal, now_);
      user_.erase(user_.begin());
    }
    if (now_ >= listens_ && !children_.empty() && !children_[0].ended() && !children_[0].held()) {
      plan_.OnListening();
    }
    for (Rank rank = 0; rank < static_cast<Rank>(children_.size()); ++rank) Look(rank);
    while (const std::optional<Rank> rank = plan_.next()) {
      children_.emplace_back(natures_[static_cast<size_t>(*rank)]);
      plan_.OnStarted(100 + *rank);
    }
    if (children_.size() == natures_.size() && !std::exchange(begun_, true)) {
      for (Rank rank = 0; rank < options_.nodes; ++rank) plan_.OnCameIn(rank);
    }
    while (const std::optional<Rank> rank = plan_.next_restart(now_)) {
      ++restarts_;
      ASSERT_TRUE(children_[static_cast<size_t>(*rank)].ended());
      children_[static_cast<size_t>(*rank)] = FakeChild({.ends = now_ + milliseconds(5000)});
      plan_.OnRestarted(*rank, 200 + *rank);
      plan_.OnCameIn(*rank);
    }
    for (const LaunchPlan::Order& order : plan_.Due(now_)) {
      children_[static_cast<size_t>(order.rank)].Signal(order.signal, now_);
      if (!order.why.empty()) reasons_.push_back(order.why);
    }
    if (now_ - kStart >= options_.rendezvous_timeout && children_.size() < natures_.size()) {
      Trouble();
    }
  }

  void Look(Rank rank) {
    FakeChild& child = children_[static_cast<size_t>(rank)];
    if (child.ended()) return;
    if (const std::optional<int> wait_status = child.Live(now_)) {
      if (*wait_status != 0) Trouble();
      if (*wait_status == 0) first_good_end_ = std::min(first_good_end_, now_);
      plan_.OnEnded(rank, *wait_status, now_);
    } else {
      plan_.OnHeld(rank, child.held(), now_);
    }
  }

  Time NextEvent() const {
    Time next = plan_.deadline();
    if (!user_.empty()) next = std::min(next, user_.front().at);
    if (listens_ > now_) next = std::min(next, listens_);
    for (const FakeChild& child : children_) next = std::min(next, child.NextEvent());
    return next;
  }

  void Trouble() { first_trouble_ = std::min(first_trouble_, now_); }

  const LaunchPlanOptions options_;
  const std::vector<Nature> natures_;
  const Time listens_;
  bool begun_ = false;
  std::vector<UserSignal> user_;
  LaunchPlan plan_;
  Time now_ = kStart;
  std::vector<FakeChild> children_;
  Time first_trouble_ = kNever, first_good_end_ = kNever;
  bool first_signal_ = false, forced_by_user_ = false;
  std::vector<std::string> reasons_;
  int restarts_ = 0;
};

constexpr LaunchPlanOptions kOptions{.nodes = 3,
                                     .rendezvous_timeout = milliseconds(60000),
                                     .finish_timeout = milliseconds(900000),
                                     .grace = milliseconds(10000),
                                     .kill_grace = milliseconds(2000)};

Time At(int64_t ms) { return kStart + milliseconds(ms); }

TEST(LaunchPlan, AllThatEndWellAreWaitedFor) {
  World world(kOptions, {{.ends = At(5000)}, {.ends = At(5100)}, {.ends = At(300000)}}, At(10), {});
  ASSERT_TRUE(world.Run());
  EXPECT_TRUE(world.plan().Outcome().ok());
  EXPECT_EQ(world.now(), At(300000));
}

TEST(LaunchPlan, WhoHangsAfterTheOthersHaveTrainedHasUntilTheFinishTimeout) {
  World world(kOptions, {{.ends = At(5000)}, {.ends = At(5000)}, {.deaf = true}}, At(10), {});
  ASSERT_TRUE(world.Run());
  EXPECT_EQ(world.now(), At(5000 + 900000 + 2000));
  EXPECT_EQ(FailureOf(world.plan().Outcome()), Failure::kPeerLost);
}

TEST(LaunchPlan, WhoIsStoppedWhenTheOthersHaveTrainedMayGoOn) {
  World world(kOptions,
              {{.ends = At(5000)},
               {.ends = At(5000)},
               {.ends = At(5000), .stops = At(4000), .goes_on = At(14000)}},
              At(10), {});
  ASSERT_TRUE(world.Run());
  EXPECT_TRUE(world.plan().Outcome().ok());
}

TEST(LaunchPlan, WhereNodesGoOnOnlyRankZeroDecides) {
  LaunchPlanOptions options = kOptions;
  options.survives = true;
  const auto outcome = [&](Nature first, Nature second) {
    World world(options, {first, second, {.ends = At(6000)}}, At(10), {});
    EXPECT_TRUE(world.Run());
    return world.plan().Outcome();
  };
  EXPECT_TRUE(outcome({.ends = At(5000)}, {.ends = At(100), .wait_status = Killed(SIGKILL)}).ok());
  EXPECT_TRUE(outcome({.ends = At(5000)}, {.ends = At(100), .wait_status = Exited(6)}).ok());
  EXPECT_EQ(FailureOf(outcome({.ends = At(5000)}, {.ends = At(100), .wait_status = Exited(4)})),
            Failure::kOutput);
  EXPECT_EQ(FailureOf(outcome({.ends = At(5000), .wait_status = Exited(5)},
                              {.ends = At(100), .wait_status = Killed(SIGKILL)})),
            Failure::kRendezvous);
}

TEST(LaunchPlan, WhereTheRoleMovesAnyNodeThatEndsWellDecides) {
  LaunchPlanOptions options = kOptions;
  options.survives = options.role_moves = true;
  const auto outcome = [&](Nature first, Nature others) {
    World world(options, {first, others, others}, At(10), {});
    EXPECT_TRUE(world.Run());
    return world.plan().Outcome();
  };
  const Nature killed{.ends = At(100), .wait_status = Killed(SIGKILL)};
  EXPECT_TRUE(outcome(killed, {.ends = At(5000)}).ok());
  EXPECT_TRUE(outcome({.ends = At(100), .wait_status = Exited(143)}, {.ends = At(5000)}).ok());
  EXPECT_EQ(FailureOf(outcome(killed, {.ends = At(200), .wait_status = Exited(6)})),
            Failure::kPeerLost);
  EXPECT_EQ(FailureOf(outcome({.ends = At(100), .wait_status = Exited(4)}, {.ends = At(5000)})),
            Failure::kOutput);
}

TEST(LaunchPlan, WhereNodesGoOnWhoIsStoppedAtTheEndIsKilled) {
  LaunchPlanOptions options = kOptions;
  options.survives = true;
  World world(options, {{.ends = At(5000)}, {.ends = At(5000)}, {.stops = At(100)}}, At(10), {});
  ASSERT_TRUE(world.Run());
  EXPECT_EQ(world.now(), At(5000));
  EXPECT_TRUE(world.plan().Outcome().ok());
}

std::vector<std::pair<Rank, int>> SignalsAt(LaunchPlan& plan, Time now) {
  std::vector<std::pair<Rank, int>> signals;
  for (const LaunchPlan::Order& order : plan.Due(now))
    signals.emplace_back(order.rank, order.signal);
  return signals;
}

LaunchPlan TwoRunning() {
  LaunchPlan plan({.nodes = 2}, kStart);
  plan.OnStarted(10);
  plan.OnListening();
  plan.OnStarted(11);
  return plan;
}

TEST(LaunchPlan, AChildThatAsksForItIsStoppedForSoLong) {
  using Signals = std::vector<std::pair<Rank, int>>;
  LaunchPlan plan = TwoRunning();
  const Time asked = kStart + milliseconds(100);
  plan.OnPause(1, milliseconds(500), asked);
  EXPECT_EQ(SignalsAt(plan, asked), (Signals{{1, SIGSTOP}}));
  EXPECT_EQ(plan.deadline(), asked + milliseconds(500));
  // Another pause within the first, which ends later.
  plan.OnPause(1, milliseconds(450), asked + milliseconds(100));
  EXPECT_EQ(SignalsAt(plan, asked + milliseconds(500)), (Signals{{1, SIGSTOP}}));
  EXPECT_EQ(SignalsAt(plan, asked + milliseconds(550)), (Signals{{1, SIGCONT}}));
  EXPECT_EQ(plan.deadline(), kNever);
  EXPECT_FALSE(plan.over());
}

// It is told the verdict, and names the culprit, as the others do.
TEST(LaunchPlan, AChildThatGoesOnSoonIsNotKilledWhenTheOthersEnd) {
  using Signals = std::vector<std::pair<Rank, int>>;
  const auto stopped_for = [](milliseconds pause) {
    LaunchPlan plan = TwoRunning();
    plan.OnPause(0, pause, kStart);
    EXPECT_EQ(SignalsAt(plan, kStart), (Signals{{0, SIGSTOP}}));
    plan.OnHeld(0, true, kStart);
    plan.OnEnded(1, Killed(SIGKILL), kStart);
    return plan;
  };
  LaunchPlan plan = stopped_for(milliseconds(500));
  EXPECT_EQ(SignalsAt(plan, kStart), Signals{});
  EXPECT_EQ(plan.deadline(), kStart + milliseconds(500));
  EXPECT_EQ(SignalsAt(plan, kStart + milliseconds(500)), (Signals{{0, SIGCONT}}));
  LaunchPlan lost = stopped_for(std::chrono::hours(1));
  EXPECT_EQ(SignalsAt(lost, kStart), (Signals{{0, SIGKILL}}));
}

TEST(LaunchPlan, WhereNodesGoOnWhoIsStoppedForAMomentIsNotKilledWhenTheOthersHaveTrained) {
  using Signals = std::vector<std::pair<Rank, int>>;
  for (const Rank stopped : {0, 1}) {
    LaunchPlan plan({.nodes = 2, .survives = true}, kStart);
    plan.OnStarted(10);
    plan.OnListening();
    plan.OnStarted(11);
    plan.OnPause(stopped, milliseconds(500), kStart);
    EXPECT_EQ(SignalsAt(plan, kStart), (Signals{{stopped, SIGSTOP}}));
    plan.OnHeld(stopped, true, kStart);
    plan.OnEnded(1 - stopped, 0, kStart);
    EXPECT_EQ(SignalsAt(plan, kStart), Signals{});
    EXPECT_EQ(SignalsAt(plan, kStart + milliseconds(500)), (Signals{{stopped, SIGCONT}}));
    plan.OnEnded(stopped, 0, kStart + milliseconds(600));
    EXPECT_TRUE(plan.Outcome().ok());
  }
}

TEST(LaunchPlan, WhoIsGoneOrUnknownIsNotStopped) {
  LaunchPlan plan = TwoRunning();
  plan.OnPause(1, milliseconds(500), kStart);
  EXPECT_EQ(SignalsAt(plan, kStart).size(), 1u);
  plan.OnEnded(1, 0, kStart);
  plan.OnPause(1, milliseconds(500), kStart);
  plan.OnPause(2, milliseconds(500), kStart);
  plan.OnPause(-1, milliseconds(500), kStart);
  EXPECT_TRUE(SignalsAt(plan, kStart + milliseconds(500)).empty());
}

TEST(LaunchPlan, TheUsersTerminationLeavesTimeToSave) {
  LaunchPlanOptions options = kOptions;
  options.saving_grace = milliseconds(25000);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    World world(options,
                {{.hearing = milliseconds(24000)},
                 {.hearing = milliseconds(24000)},
                 {.hearing = milliseconds(24000)}},
                At(10), {{At(1000), signal}});
    ASSERT_TRUE(world.Run());
    EXPECT_EQ(world.now(), signal == SIGTERM ? At(25000) : At(11000));
  }
}

TEST(LaunchPlan, WhoSavesIsKilledByASecondTerminationButNotByAnEcho) {
  LaunchPlanOptions options = kOptions;
  options.saving_grace = milliseconds(25000);
  options.echo = milliseconds(2000);
  for (const auto& [second, killed] : {std::pair(milliseconds(1), false),
                                       {milliseconds(1999), false},
                                       {milliseconds(2000), true}}) {
    World world(options,
                {{.hearing = milliseconds(9000)},
                 {.hearing = milliseconds(9000)},
                 {.hearing = milliseconds(9000)}},
                At(10), {{At(1000), SIGTERM}, {At(1000) + second, SIGTERM}});
    ASSERT_TRUE(world.Run());
    EXPECT_EQ(world.now(), killed ? At(1000) + second : At(10000));
  }
}

TEST(LaunchPlan, ASecondHangUpForcesNobody) {
  World world(kOptions,
              {{.hearing = milliseconds(900)},
               {.hearing = milliseconds(900)},
               {.hearing = milliseconds(900)}},
              At(10), {{At(1000), SIGHUP}, {At(1001), SIGHUP}});
  ASSERT_TRUE(world.Run());
  const absl::Status outcome = world.plan().Outcome();
  EXPECT_EQ(FailureOf(outcome), Failure::kTerminated);
  EXPECT_EQ(outcome.message(), "ended by signal 1, Hangup");
}

TEST(LaunchPlan, RankZeroMustListenInTime) {
  World world(kOptions, {{}, {}, {}}, kNever, {});
  ASSERT_TRUE(world.Run());
  EXPECT_EQ(world.children().size(), 1u);
  const absl::Status outcome = world.plan().Outcome();
  EXPECT_EQ(FailureOf(outcome), Failure::kRendezvous);
  EXPECT_THAT(std::string(outcome.message()), HasSubstr("--rendezvous-timeout"));
}

// Uniform draws of one schedule.
class Draws {
 public:
  explicit Draws(uint64_t seed) : random_(seed, Purpose::kMatching) {}
  int64_t Below(int64_t bound) {
    return static_cast<int64_t>(random_.Below(static_cast<uint64_t>(bound)));
  }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  Time Soon() { return At(Below(40000)); }

 private:
  KeyedRandom random_;
};

Nature DrawNature(Draws& draw) {
  constexpr int kEnds[] = {0, 0, 0, Exited(6), Exited(7), Killed(SIGSEGV), Killed(SIGKILL)};
  Nature nature;
  if (!draw.OneIn(3)) nature.ends = draw.Soon();
  nature.wait_status = kEnds[draw.Below(std::size(kEnds))];
  if (draw.OneIn(3)) nature.stops = draw.Soon();
  if (draw.OneIn(2)) nature.goes_on = draw.Soon();
  nature.deaf = draw.OneIn(4);
  nature.hearing = milliseconds(draw.Below(4000));
  return nature;
}

World DrawWorld(Draws& draw) {
  constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  LaunchPlanOptions options = kOptions;
  options.nodes = static_cast<Rank>(1 + draw.Below(5));
  std::vector<Nature> natures;
  for (Rank rank = 0; rank < options.nodes; ++rank) natures.push_back(DrawNature(draw));
  std::vector<UserSignal> user;
  for (int64_t i = draw.Below(3); i > 0; --i) {
    user.push_back({draw.Soon(), kSignals[draw.Below(3)]});
  }
  std::ranges::sort(user, {}, &UserSignal::at);
  const Time listens = draw.OneIn(10) ? kNever : draw.Soon();
  return World(options, std::move(natures), listens, std::move(user));
}

void ExpectOrderlyEnd(World& world) {
  for (const FakeChild& child : world.children()) EXPECT_TRUE(child.ended());
  // In time.
  if (world.first_trouble() != kNever) {
    EXPECT_LE(world.now() - world.first_trouble(), kOptions.grace + kOptions.kill_grace);
  } else if (world.first_good_end() != kNever) {
    EXPECT_LE(world.now() - world.first_good_end(), kOptions.finish_timeout + kOptions.kill_grace);
  }
  // Without force where none was needed.
  for (const FakeChild& child : world.children()) {
    EXPECT_FALSE(child.killed() && child.polite(kOptions.kill_grace) && !world.forced_by_user());
  }
  const bool all_well = std::ranges::all_of(world.children(), [](const FakeChild& child) {
    return child.nature().wait_status == 0 && !child.killed();
  });
  const absl::Status outcome = world.plan().Outcome();
  EXPECT_TRUE(!outcome.ok() || all_well);
  if (world.plan().interrupted() && !world.failed_by_itself()) {
    EXPECT_THAT(FailureOf(outcome),
                AnyOf(Failure::kNone, Failure::kInterrupted, Failure::kTerminated));
  }
}

TEST(LaunchPlan, EverySchedulesEndIsOrderly) {
  testing::PlaySeeds(5000, 1, [&](uint64_t seed, testing::Sightings& seen) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draws draw(seed);
    World world = DrawWorld(draw);
    const bool idle = !world.Run();
    seen.Count("schedules that only a signal ends", idle);
    if (idle) {
      // Nobody has ended or was told to: nothing but a signal can end that.
      EXPECT_EQ(world.first_trouble(), kNever);
      EXPECT_EQ(world.first_good_end(), kNever);
      world.Tell(SIGTERM);
      ASSERT_TRUE(world.Run()) << "one SIGTERM does not end it";
    }
    ExpectOrderlyEnd(world);
  });
}

// Two that go on without each other, and of which another may come in the place of one.
LaunchPlan TwoThatSurvive(int max_restarts, bool role_moves = false) {
  LaunchPlan plan(
      {.nodes = 2, .survives = true, .role_moves = role_moves, .max_restarts = max_restarts},
      kStart);
  plan.OnStarted(10);
  plan.OnListening();
  plan.OnStarted(11);
  for (const Rank rank : {0, 1}) plan.OnCameIn(rank);
  return plan;
}

// The others would wait for it, as long as --rendezvous-timeout.
TEST(LaunchPlan, BeforeTheRunHasBegunNobodyGoesOnWithoutALostOne) {
  using Signals = std::vector<std::pair<Rank, int>>;
  LaunchPlan plan({.nodes = 2, .survives = true, .role_moves = true}, kStart);
  plan.OnStarted(10);
  plan.OnListening();
  plan.OnStarted(11);
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  EXPECT_EQ(SignalsAt(plan, At(10100)), (Signals{{0, SIGTERM}}));
  plan.OnEnded(0, Exited(143), At(10200));
  EXPECT_TRUE(plan.over());
  EXPECT_THAT(std::string(plan.Outcome().message()), HasSubstr("rank 1 (process 11) was killed"));

  LaunchPlan again({.nodes = 2, .survives = true, .max_restarts = 1}, kStart);
  again.OnStarted(10);
  again.OnListening();
  again.OnStarted(11);
  again.OnEnded(1, Killed(SIGKILL), At(100));
  EXPECT_EQ(again.next_restart(At(1100)), 1) << "who is started again comes in time";
  again.OnRestarted(1, 20);
  for (const Rank rank : {0, 1}) again.OnCameIn(rank);
  again.OnEnded(1, Killed(SIGKILL), At(5000));
  EXPECT_TRUE(SignalsAt(again, At(60000)).empty()) << "rank 0 goes on";
}

TEST(LaunchPlan, WhoWasStartedAgainBeforeTheRunBeganIsInItAsOthersAre) {
  LaunchPlan plan({.nodes = 2, .survives = true, .role_moves = true, .max_restarts = 2}, kStart);
  plan.OnStarted(10);
  plan.OnListening();
  plan.OnStarted(11);
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  plan.OnRestarted(1, 20);
  for (const Rank rank : {0, 1}) plan.OnCameIn(rank);
  plan.OnEnded(0, Killed(SIGKILL), At(5000));
  EXPECT_TRUE(SignalsAt(plan, At(5500)).empty());
  EXPECT_EQ(plan.next_restart(At(6000)), 0);
}

// Nobody knows how its nodes ended, and nobody can be started there.
TEST(LaunchPlan, AHostThatIsLostTakesItsNodesWithIt) {
  const std::vector<std::string> hosts = {"node1", "node2", "node2"};
  LaunchPlan plan({.nodes = 3, .hosts = hosts, .survives = true, .max_restarts = 9}, kStart);
  plan.OnStarted(10);
  plan.OnListening();
  for (const Rank rank : {1, 2}) plan.OnStarted(10 + rank);
  for (const Rank rank : {0, 1, 2}) plan.OnCameIn(rank);
  for (const Rank rank : {1, 2}) plan.OnLost(rank, "hung up", At(100));
  EXPECT_TRUE(SignalsAt(plan, At(60000)).empty()) << "rank 0 goes on";
  EXPECT_EQ(plan.next_restart(At(60000)), std::nullopt);
  plan.OnEnded(0, 0, At(60000));
  EXPECT_TRUE(plan.over());
  EXPECT_TRUE(plan.Outcome().ok());

  LaunchPlan together({.nodes = 3, .hosts = hosts}, kStart);
  together.OnStarted(10);
  together.OnListening();
  for (const Rank rank : {1, 2}) together.OnStarted(10 + rank);
  for (const Rank rank : {2, 1}) together.OnLost(rank, "hung up", At(100));
  EXPECT_EQ(SignalsAt(together, At(10100)), (std::vector<std::pair<Rank, int>>{{0, SIGTERM}}));
  together.OnEnded(0, Exited(6), At(10200));
  EXPECT_EQ(together.Outcome().message(), "ranks 1, 2 are lost with node2, which hung up");
  EXPECT_EQ(FailureOf(together.Outcome()), Failure::kPeerLost);
}

TEST(LaunchPlan, OneThatCannotBeStartedEndsTheLaunch) {
  LaunchPlan plan({.nodes = 3}, kStart);
  plan.OnStarted(10);
  plan.OnListening();
  plan.OnStarted();
  plan.OnNotStarted(1, absl::UnavailableError("no such program"), At(100));
  EXPECT_EQ(plan.next(), std::nullopt);
  EXPECT_EQ(SignalsAt(plan, At(100)), (std::vector<std::pair<Rank, int>>{{0, SIGTERM}}));
  plan.OnEnded(0, Exited(143), At(200));
  EXPECT_TRUE(plan.over());
  EXPECT_EQ(plan.Outcome().message(), "rank 1: no such program");
}

TEST(LaunchPlan, WhoRunsElsewhereIsNamedWithItsHost) {
  LaunchPlan plan({.nodes = 2, .hosts = {"node1", "node2"}}, kStart);
  plan.OnStarted();
  plan.OnRunning(0, 10);
  plan.OnListening();
  plan.OnStarted();
  plan.OnRunning(1, 11);
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  plan.OnEnded(0, Exited(6), At(200));
  EXPECT_THAT(std::string(plan.Outcome().message()),
              HasSubstr("rank 1 (process 11 on node2) was killed by signal 9"));
}

TEST(LaunchPlan, AnotherProcessTakesThePlaceOfOneThatIsLostAtMostSoOften) {
  LaunchPlan plan = TwoThatSurvive(1);
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  EXPECT_FALSE(plan.next_restart(At(1099)).has_value());
  EXPECT_EQ(plan.deadline(), At(1100));
  EXPECT_EQ(plan.next_restart(At(1100)), 1);
  plan.OnRestarted(1, 20);
  EXPECT_FALSE(plan.next_restart(At(1100)).has_value());
  EXPECT_EQ(plan.deadline(), kNever);
  plan.OnEnded(1, Killed(SIGKILL), At(3000));
  EXPECT_FALSE(plan.next_restart(At(10000)).has_value());
  EXPECT_EQ(plan.deadline(), kNever);
  plan.OnEnded(0, 0, At(5000));
  EXPECT_TRUE(plan.over());
  EXPECT_TRUE(plan.Outcome().ok()) << plan.Outcome();
}

TEST(LaunchPlan, WhereNobodyGoesOnNobodyIsStartedAgain) {
  LaunchPlan plan({.nodes = 2, .max_restarts = 3}, kStart);
  plan.OnStarted(10);
  plan.OnListening();
  plan.OnStarted(11);
  plan.OnReturn(1, milliseconds(500));
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  EXPECT_FALSE(plan.next_restart(At(10000)).has_value());
}

TEST(LaunchPlan, OneThatIsKilledAtItsOwnWishComesBackWhenItSays) {
  LaunchPlan plan = TwoThatSurvive(0);
  plan.OnReturn(-1, milliseconds(500));
  plan.OnReturn(2, milliseconds(500));
  for (int life = 0; life < 3; ++life) {
    const Time killed = At(1000 * life);
    plan.OnReturn(1, milliseconds(500));
    plan.OnEnded(1, Killed(SIGKILL), killed);
    EXPECT_FALSE(plan.next_restart(killed + milliseconds(499)).has_value());
    EXPECT_EQ(plan.next_restart(killed + milliseconds(500)), 1);
    plan.OnRestarted(1, 20 + life);
  }
  plan.OnEnded(1, Exited(6), At(4000));  // it could not come in
  EXPECT_FALSE(plan.next_restart(At(4999)).has_value());
  EXPECT_EQ(plan.next_restart(At(5000)), 1);
  plan.OnRestarted(1, 30);
  plan.OnEnded(1, Killed(SIGKILL), At(6000));  // not at its own wish
  EXPECT_FALSE(plan.next_restart(At(60000)).has_value());
}

TEST(LaunchPlan, WhoCameLaterAndCannotComeInEndsNobody) {
  for (const int wait_status : {Exited(4), Exited(5), Exited(2), Killed(SIGSEGV)}) {
    LaunchPlan plan = TwoThatSurvive(1);
    plan.OnEnded(1, Killed(SIGKILL), At(100));
    plan.OnRestarted(1, 20);
    plan.OnEnded(1, wait_status, At(2000));
    EXPECT_TRUE(SignalsAt(plan, At(60000)).empty());
    EXPECT_FALSE(plan.over());
    plan.OnEnded(0, 0, At(60000));
    EXPECT_TRUE(plan.over());
    EXPECT_TRUE(plan.Outcome().ok()) << plan.Outcome();
  }
}

TEST(LaunchPlan, NobodyIsStartedAgainOnceTheRunHasEndedOrEnds) {
  LaunchPlan late = TwoThatSurvive(1);
  late.OnEnded(0, 0, At(100));
  late.OnEnded(1, Killed(SIGKILL), At(200));
  EXPECT_FALSE(late.next_restart(At(60000)).has_value());
  EXPECT_TRUE(late.over());
  EXPECT_TRUE(late.Outcome().ok()) << late.Outcome();

  LaunchPlan ended = TwoThatSurvive(1);
  ended.OnEnded(1, Killed(SIGKILL), At(100));
  ended.OnEnded(0, 0, At(200));
  EXPECT_FALSE(ended.next_restart(At(60000)).has_value());
  EXPECT_TRUE(ended.over()) << "it waits for no restart";

  LaunchPlan told = TwoThatSurvive(1);
  told.OnEnded(1, Killed(SIGKILL), At(100));
  told.OnSignal(SIGTERM, At(200));
  EXPECT_FALSE(told.next_restart(At(60000)).has_value());
  told.OnEnded(0, Exited(143), At(300));
  EXPECT_TRUE(told.over());

  LaunchPlan failed = TwoThatSurvive(1);
  failed.OnEnded(1, Killed(SIGKILL), At(100));
  failed.OnEnded(0, Exited(4), At(200));
  EXPECT_FALSE(failed.next_restart(At(60000)).has_value());
  EXPECT_TRUE(failed.over());
  EXPECT_EQ(FailureOf(failed.Outcome()), Failure::kOutput);
}

TEST(LaunchPlan, RankZeroComesBackOnlyWhereItsRoleMoves) {
  LaunchPlan stays = TwoThatSurvive(1);
  stays.OnReturn(0, milliseconds(500));
  stays.OnEnded(0, Killed(SIGKILL), At(100));
  EXPECT_FALSE(stays.next_restart(At(60000)).has_value());
  EXPECT_EQ(SignalsAt(stays, At(100) + milliseconds(10000)).size(), 1u) << "the run has failed";

  LaunchPlan moves = TwoThatSurvive(1, /*role_moves=*/true);
  moves.OnEnded(0, Killed(SIGKILL), At(100));
  EXPECT_EQ(moves.next_restart(At(1100)), 0);
}

// It finds nobody, and would look for as long as --rendezvous-timeout.
TEST(LaunchPlan, WhoComesTooLateIsNotWaitedForLong) {
  using Signals = std::vector<std::pair<Rank, int>>;
  LaunchPlan plan = TwoThatSurvive(1);
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  plan.OnRestarted(1, 20);
  plan.OnEnded(0, 0, At(2000));
  EXPECT_FALSE(plan.over());
  EXPECT_EQ(plan.deadline(), At(12000));
  EXPECT_EQ(SignalsAt(plan, At(11999)), Signals{});
  EXPECT_EQ(SignalsAt(plan, At(12000)), (Signals{{1, SIGTERM}}));
  EXPECT_EQ(SignalsAt(plan, At(12001)), Signals{});
  plan.OnEnded(1, Exited(143), At(12100));
  EXPECT_TRUE(plan.over());
  EXPECT_TRUE(plan.Outcome().ok()) << plan.Outcome();
}

// It may be writing its results.
TEST(LaunchPlan, WhoHasComeInHasAsLongAsTheOthersToFinish) {
  LaunchPlan plan = TwoThatSurvive(1);
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  plan.OnRestarted(1, 20);
  plan.OnCameIn(1);
  plan.OnEnded(0, 0, At(2000));
  EXPECT_TRUE(SignalsAt(plan, At(60000)).empty());
}

TEST(LaunchPlan, ItIsNotOverWhileOneIsToComeBack) {
  LaunchPlan plan = TwoThatSurvive(0, /*role_moves=*/true);
  plan.OnReturn(1, milliseconds(500));
  plan.OnEnded(1, Killed(SIGKILL), At(100));
  EXPECT_FALSE(plan.over());
  EXPECT_EQ(plan.next_restart(At(600)), 1);
  plan.OnRestarted(1, 20);
  plan.OnCameIn(1);
  plan.OnEnded(0, Killed(SIGKILL), At(650));
  EXPECT_FALSE(plan.over());
  plan.OnEnded(1, 0, At(700));
  EXPECT_TRUE(plan.over());
  EXPECT_TRUE(plan.Outcome().ok()) << plan.Outcome();
}

// Who comes back finds nobody, and would look for as long as --rendezvous-timeout, again and again.
TEST(LaunchPlan, ARunThatNobodyIsLeftInIsOver) {
  using Signals = std::vector<std::pair<Rank, int>>;
  LaunchPlan awaiting = TwoThatSurvive(5, /*role_moves=*/true);
  awaiting.OnEnded(1, Killed(SIGKILL), At(100));
  awaiting.OnEnded(0, Killed(SIGKILL), At(200));
  EXPECT_TRUE(awaiting.over());
  EXPECT_FALSE(awaiting.next_restart(At(5000)).has_value());
  EXPECT_EQ(FailureOf(awaiting.Outcome()), Failure::kPeerLost);
  EXPECT_THAT(std::string(awaiting.Outcome().message()), HasSubstr("nobody is left"));

  LaunchPlan coming = TwoThatSurvive(5, /*role_moves=*/true);
  coming.OnEnded(1, Killed(SIGKILL), At(100));
  coming.OnRestarted(1, 20);
  coming.OnCameIn(-1);
  coming.OnCameIn(2);
  coming.OnEnded(0, Killed(SIGKILL), At(1200));
  EXPECT_EQ(SignalsAt(coming, At(1200)), (Signals{{1, SIGTERM}}));
  coming.OnEnded(1, Exited(143), At(1300));
  EXPECT_TRUE(coming.over());
  EXPECT_THAT(std::string(coming.Outcome().message()), HasSubstr("nobody is left"));

  LaunchPlan without = TwoThatSurvive(0, /*role_moves=*/true);
  without.OnEnded(1, Killed(SIGKILL), At(100));
  without.OnEnded(0, Killed(SIGKILL), At(200));
  EXPECT_TRUE(without.over());
  EXPECT_THAT(std::string(without.Outcome().message()), HasSubstr("was killed by signal 9"));
}

TEST(LaunchPlan, WhoeverIsLostWhenTheLaunchEnds) {
  testing::PlaySeeds(2000, 1, [&](uint64_t seed, testing::Sightings& seen) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draws draw(seed);
    LaunchPlanOptions options = kOptions;
    options.nodes = static_cast<Rank>(2 + draw.Below(4));
    options.survives = true;
    options.role_moves = draw.OneIn(2);
    options.max_restarts = static_cast<int>(draw.Below(4));
    std::vector<Nature> natures;
    for (Rank rank = 0; rank < options.nodes; ++rank) {
      natures.push_back({.ends = draw.Soon(), .wait_status = draw.OneIn(2) ? Killed(SIGKILL) : 0});
    }
    World world(options, std::move(natures), At(10), {});
    ASSERT_TRUE(world.Run());
    EXPECT_LE(world.restarts(), options.max_restarts);
    seen.Count("restarts", world.restarts());
    for (const FakeChild& child : world.children()) EXPECT_TRUE(child.ended());
  });
}

// Four that go on without those that are lost; the looks of their launcher.
class Stranded : public ::testing::Test {
 protected:
  using Signals = std::vector<std::pair<Rank, int>>;

  Stranded() {
    for (Rank rank = 0; rank < 4; ++rank) {
      plan_.OnStarted(10 + rank);
      plan_.OnListening();
    }
    for (Rank rank = 0; rank < 4; ++rank) plan_.OnCameIn(rank);
  }

  void Lose(std::vector<Rank> ranks, Time now) {
    for (const Rank rank : ranks) plan_.OnEnded(rank, Exited(6), now);
  }
  void Hold(std::vector<Rank> ranks, Time now, bool held = true) {
    for (const Rank rank : ranks) plan_.OnHeld(rank, held, now);
  }
  // Looks whenever the plan wants to, until `end`; who is signalled meanwhile.
  Signals LookUntil(Time end) {
    Signals signals;
    for (; now_ < end; now_ = std::min(end, plan_.deadline())) {
      for (const auto& signal : SignalsAt(plan_, now_)) signals.push_back(signal);
    }
    for (const auto& signal : SignalsAt(plan_, now_)) signals.push_back(signal);
    return signals;
  }

  // Rank 0, which would hear only the latter.
  const Signals kGivenUp = {{0, SIGTERM}, {0, SIGKILL}};
  LaunchPlan plan_{{.nodes = 4, .peer_timeout = milliseconds(30000), .survives = true}, kStart};
  Time now_ = kStart;
};

TEST_F(Stranded, RankZeroThatIsStoppedForGoodIsGivenUpOnceTheOthersHaveEnded) {
  Hold({0}, At(1000));
  EXPECT_EQ(LookUntil(At(12000)), Signals{});
  Lose({1, 2, 3}, At(12000));
  EXPECT_EQ(LookUntil(At(41000)), Signals{});
  EXPECT_EQ(LookUntil(At(43000)), kGivenUp);
  plan_.OnEnded(0, Killed(SIGKILL), At(43000));
  ASSERT_TRUE(plan_.over());
  EXPECT_EQ(FailureOf(plan_.Outcome()), Failure::kPeerLost);
  EXPECT_THAT(std::string(plan_.Outcome().message()),
              AllOf(HasSubstr("rank 0 (process 10) has been stopped (SIGSTOP) for 41"),
                    HasSubstr("nobody else is left in the run"), HasSubstr("kill -CONT"),
                    HasSubstr("--peer-timeout, which is 30 s")));
}

TEST_F(Stranded, TheOnlyOneLeftIsGivenUpThoughItWasStoppedAfterTheOthersDied) {
  Lose({1, 2, 3}, At(1000));
  Hold({0}, At(2000));
  now_ = At(2000);
  EXPECT_EQ(LookUntil(At(31000)), Signals{});
  EXPECT_EQ(LookUntil(At(33000)), kGivenUp);
}

TEST_F(Stranded, SeveralThatAreStoppedAreAllNamed) {
  Hold({0, 1}, At(1000));
  Lose({2, 3}, At(12000));
  now_ = At(12000);
  EXPECT_EQ(LookUntil(At(43000)),
            (Signals{{0, SIGTERM}, {1, SIGTERM}, {0, SIGKILL}, {1, SIGKILL}}));
  EXPECT_THAT(std::string(plan_.Outcome().message()),
              HasSubstr("rank 0 (process 10), rank 1 (process 11) have been stopped"));
}

TEST_F(Stranded, WhoGoesOnInTimeIsNotGivenUp) {
  Hold({0}, At(1000));
  Lose({1, 2, 3}, At(12000));
  now_ = At(12000);
  EXPECT_EQ(LookUntil(At(40000)), Signals{});
  Hold({0}, At(40000), false);
  EXPECT_EQ(LookUntil(At(60000)), Signals{});
  Hold({0}, At(60000));
  EXPECT_EQ(LookUntil(At(85000)), Signals{}) << "its time begins anew";
}

TEST_F(Stranded, WhoeverRunsMayMissThoseThatAreStopped) {
  Hold({0, 1}, At(1000));
  Lose({2}, At(12000));
  EXPECT_EQ(LookUntil(At(900000)), Signals{});
}

// As where all are paused by hand: a run that has lost one long ago is none the worse for it.
TEST_F(Stranded, ThoseWhoAreAllStoppedAtOnceArePaused) {
  Lose({3}, At(1000));
  Hold({0, 1, 2}, At(2000));
  EXPECT_EQ(LookUntil(At(900000)), Signals{});
  EXPECT_EQ(plan_.deadline(), kNever);
}

TEST_F(Stranded, WhileTheLauncherIsStoppedItself) {
  Hold({0}, At(1000));
  Lose({1, 2, 3}, At(12000));
  now_ = At(12000);
  EXPECT_EQ(LookUntil(At(20000)), Signals{});
  now_ = At(3600000);  // with its terminal's Ctrl-Z
  EXPECT_EQ(LookUntil(At(3615000)), Signals{});
  EXPECT_EQ(LookUntil(At(3625000)), kGivenUp);
}

TEST_F(Stranded, WhoIsStoppedAtItsOwnWishGoesOn) {
  plan_.OnPause(0, milliseconds(40000), At(1000));
  now_ = At(1000);
  EXPECT_EQ(LookUntil(At(1000)), (Signals{{0, SIGSTOP}}));
  Hold({0}, At(1000));
  Lose({1, 2, 3}, At(12000));
  EXPECT_EQ(LookUntil(At(41000)), (Signals{{0, SIGCONT}}));
}

TEST_F(Stranded, WhoIsStoppedAtItsOwnWishForTooLongIsGivenUp) {
  plan_.OnPause(0, milliseconds(3600000), At(1000));
  now_ = At(1000);
  EXPECT_EQ(LookUntil(At(1000)), (Signals{{0, SIGSTOP}}));
  Hold({0}, At(1000));
  EXPECT_EQ(LookUntil(At(12000)), Signals{});
  Lose({1, 2, 3}, At(12000));
  EXPECT_EQ(LookUntil(At(41000)), Signals{});
  EXPECT_EQ(LookUntil(At(43000)), kGivenUp);
}

// Whoever comes in its place finds nobody who could take it in.
TEST(LaunchPlan, WhoIsToComeInDoesNotSaveTheOneThatIsStopped) {
  using Signals = std::vector<std::pair<Rank, int>>;
  LaunchPlan plan = TwoThatSurvive(5);
  plan.OnHeld(0, true, At(1000));
  plan.OnEnded(1, Killed(SIGKILL), At(2000));
  EXPECT_TRUE(SignalsAt(plan, At(2000)).empty());
  ASSERT_EQ(plan.next_restart(At(3000)), 1);
  plan.OnRestarted(1, 20);
  Signals signals;
  for (Time now = At(3000); now <= At(33000) && signals.empty(); now += milliseconds(1000)) {
    signals = SignalsAt(plan, now);
  }
  EXPECT_EQ(signals, (Signals{{0, SIGTERM}, {1, SIGTERM}, {0, SIGKILL}}));
}

TEST(LaunchPlan, OfThoseWhoAreStoppedNobodyIsWaitedForInVain) {
  int given_up = 0, paused = 0;
  for (uint64_t seed = 1; seed <= 3000 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Draws draw(seed);
    LaunchPlanOptions options = kOptions;
    options.nodes = static_cast<Rank>(2 + draw.Below(4));
    options.survives = true;
    options.role_moves = draw.OneIn(2);
    std::vector<Nature> natures;
    for (Rank rank = 0; rank < options.nodes; ++rank) {
      Nature nature{.ends = draw.Soon(),
                    .wait_status = draw.OneIn(2) ? Killed(SIGKILL) : Exited(6)};
      if (draw.OneIn(2)) nature.stops = draw.Soon();
      if (draw.OneIn(4)) nature.goes_on = draw.Soon();
      natures.push_back(nature);
    }
    World world(options, std::move(natures), At(10), {});
    if (world.Run()) {
      given_up += std::string(world.plan().Outcome().message()).find("stopped (SIGSTOP)") !=
                  std::string::npos;
      continue;
    }
    ++paused;  // all at once, after others had ended or before any had
    EXPECT_GT(std::ranges::count_if(world.children(), &FakeChild::held), 1);
    EXPECT_TRUE(std::ranges::all_of(
        world.children(), [](const FakeChild& child) { return child.ended() || child.held(); }));
  }
  EXPECT_GT(given_up, 100);
  EXPECT_GT(paused, 0);
}

}  // namespace
}  // namespace grapevine
