// A run under rank 0's control: its limit, its budget and failures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "node/control/grpc_control_client.h"
#include "system/mutex.h"
#include "tests/node/control/controlled_run.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

TEST(GrpcControl, ARunFromRosterToFinish) {
  constexpr Rank kNodes = 6;
  RankZero zero(kNodes);
  auto nodes = JoinAll(zero, kNodes);
  for (auto& node : nodes) node->Start();
  control::Report report;
  report.mutable_metrics()->set_round(7);
  ASSERT_TRUE(nodes[3]->client().Send(report).ok());
  zero.service.ExtendRoundLimit(20, true);
  for (auto& node : nodes) EXPECT_EQ(node->AwaitLimit(), 20);
  for (auto& node : nodes) node->Done(20);
  zero.AwaitAllDone();
  for (auto& node : nodes) EXPECT_TRUE(node->AwaitEnd().ok());
  EXPECT_EQ(zero.metrics_of, 3007);
  EXPECT_TRUE(nodes[1]->client().Send(report).ok()) << "nobody needs it any more";
  nodes.clear();
  EXPECT_TRUE(zero.service.AwaitDeparture());
  EXPECT_TRUE(zero.service.verdict().ok());
}

// What a node hears of a budget: "limit 3", "last limit 3", "measure 2".
class Heard {
 public:
  void Add(std::string what) {
    MutexLock lock(mutex_);
    heard_.push_back(std::move(what));
    changed_.NotifyAll();
  }
  bool Await(const std::string& what) {
    const auto deadline = steady_clock::now() + kLong;
    MutexLock lock(mutex_);
    while (std::ranges::count(heard_, what) == 0 && steady_clock::now() < deadline) {
      changed_.WaitUntil(mutex_, deadline);
    }
    return std::ranges::count(heard_, what) == 1;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<std::string> heard_ ABSL_GUARDED_BY(mutex_);
};

control::Steps StepsOf(Round steps, Round cut, bool resting) {
  control::Steps report;
  report.set_steps(steps);
  report.set_cut(cut);
  report.set_resting(resting);
  return report;
}

TEST(GrpcControl, ASharedBudgetFromItsFirstLimitToTheLast) {
  RankZero zero(1, seconds(30), 0, seconds(20), {},
                BudgetDeskOptions{.rounds = 10,
                                  .measured = [](Round round) { return round == 2; },
                                  .evaluated = [](Round) { return false; }});
  Heard heard;
  std::promise<absl::Status> end;
  GrpcControlClient client(
      zero.server->InProcessChannel(),
      {.coordinator = zero.address(), .world_size = 1, .rounds = 10, .sharing = 1});
  control::Registration registration = RegistrationOf(0, 1);
  registration.set_address("127.0.0.1:7000");
  ASSERT_TRUE(client.Join(registration, steady_clock::now() + kLong).ok());
  client.Start(
      {.on_round_limit =
           [&](const control::RoundLimit& moved) {
             heard.Add((moved.final() ? "last limit " : "limit ") + std::to_string(moved.limit()));
           },
       .on_cut = [&](Round round) { heard.Add("measure " + std::to_string(round)); },
       .on_abort = [&](const absl::Status& status) { end.set_value(status); },
       .on_finish = [&] { end.set_value(absl::OkStatus()); }},
      [] { return control::Heartbeat(); });
  for (Round steps = 1; steps <= 10; ++steps) {
    // A step is ahead of the one to come while two are left.
    EXPECT_TRUE(heard.Await("limit " + std::to_string(steps < 9 ? steps + 1 : steps)));
    client.SetSteps(StepsOf(steps, steps > 2 ? 2 : 0, false));
    if (steps != 2) continue;
    EXPECT_TRUE(heard.Await("measure 2"));
  }
  client.SetSteps(StepsOf(10, 2, true));
  EXPECT_TRUE(heard.Await("last limit 10"));
  control::Report done;
  done.mutable_done()->set_round_limit(10);
  EXPECT_TRUE(client.Send(done).ok());
  zero.AwaitAllDone();
  auto ended = end.get_future();
  ASSERT_EQ(ended.wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(ended.get(), absl::OkStatus());
}

TEST(GrpcControl, AFailureReachesEverybodyWithItsClass) {
  RankZero zero(3);
  auto nodes = JoinAll(zero, 3);
  for (auto& node : nodes) node->Start();
  control::Failure failure;
  failure.set_culprit(1);
  failure.set_failure(static_cast<int>(Failure::kDiverged));
  failure.set_message("rank 1: the loss is NaN in round 3");
  const absl::Status verdict =
      nodes[1]->client().AwaitVerdict(failure, steady_clock::now() + kLong);
  EXPECT_EQ(verdict.message(), failure.message());
  for (auto& node : nodes) {
    const absl::Status end = node->AwaitEnd();
    EXPECT_EQ(FailureOf(end), Failure::kDiverged);
    EXPECT_EQ(end.message(), failure.message());
  }
}

TEST(GrpcControl, ANodeThatLeavesWithoutAWordIsNamed) {
  RankZero zero(3);
  auto nodes = JoinAll(zero, 3);
  for (auto& node : nodes) node->Start();
  nodes[2].reset();
  for (int rank : {0, 1}) {
    const absl::Status end = nodes[static_cast<size_t>(rank)]->AwaitEnd();
    EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
    EXPECT_THAT(std::string(end.message()), HasSubstr("rank 2 at 127.0.0.1:7002 died"));
  }
}

TEST(GrpcControl, RankZerosDeathIsNoticed) {
  auto zero = std::make_unique<RankZero>(2);
  auto nodes = JoinAll(*zero, 2);
  for (auto& node : nodes) node->Start();
  zero->server->Shutdown(std::chrono::system_clock::now());
  const absl::Status end = nodes[1]->AwaitEnd();
  EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
  // In the words of the node or, when it is quick, of the dying rank 0.
  EXPECT_THAT(std::string(end.message()), ::testing::ContainsRegex("rank 0 .*died"));
  nodes.clear();
}

TEST(GrpcControl, HeartbeatsKeepAnIdleRunAlive) {
  constexpr milliseconds kPeerTimeout{1000};
  RankZero zero(2, kPeerTimeout);
  auto nodes = JoinAll(zero, 2, kPeerTimeout);
  for (auto& node : nodes) node->Start();
  // Two time-outs' worth of nothing but heartbeats, eight of which come in one.
  for (auto& node : nodes) ASSERT_TRUE(node->AwaitBeats(2 * 8));
  EXPECT_TRUE(zero.service.verdict().ok()) << zero.service.verdict();
  for (auto& node : nodes) node->Done(10);
  zero.AwaitAllDone();
  for (auto& node : nodes) EXPECT_TRUE(node->AwaitEnd().ok());
}

}  // namespace
}  // namespace grapevine::testing
