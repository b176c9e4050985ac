// Runners over the transport in memory, whose algorithms foresee nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "model/problem/objective_wrappers.h"
#include "node/runner/device_data_path.h"
#include "node/runner/runner.h"
#include "node/runner/trace_recorder.h"
#include "node/transport/memory_transport.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/function_objective.h"
#include "tests/testing/random_trade.h"
#include "tests/testing/sightings.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

constexpr Rank kNodes = 4;
constexpr Round kSteps = 30;
constexpr int64_t kElements = 37;
const std::chrono::seconds kPatience = Patient(std::chrono::seconds(60));

class NoObserver final : public RunObserver {
 public:
  absl::Status OnRound(const RoundReport&, const BoundaryModel&) override {
    return absl::OkStatus();
  }
  void OnAverage(AveragedModel) override {}
};

ReplicaLayout Layout() {
  ReplicaLayout layout;
  layout.AddParameter("x", {kElements});
  return layout;
}

struct TradingNode {
  TradingNode(Rank rank, uint64_t seed, bool on_device, const std::shared_ptr<MemoryHub>& hub,
              std::function<void()> on_rest) {
    auto objective = std::make_unique<FunctionObjective>(
        rank, Layout(), [](Rank, Round, std::span<const float>, std::span<float>) {});
    RunnerOptions options{.rank = rank,
                          .workers = kNodes,
                          .rounds = kSteps + 1,
                          .limit = kSteps,
                          .evaluate = [](Round) { return false; },
                          .trace = &trace};
    if (on_device) {
      device = std::make_unique<EmulatedDevice>(
          EmulatedDeviceOptions{.seed = seed + static_cast<uint64_t>(rank)});
      stream = *device->NewStream();
      problem = *HostObjective::Make(std::move(objective), {device.get(), stream.get()});
      options.data_path = [this](OnPass on_pass, std::function<void(absl::Status)> on_failure) {
        return DeviceDataPath::Make({.device = device.get(), .gradients = stream.get(), .chunk = 7},
                                    std::move(on_pass), std::move(on_failure));
      };
    } else {
      problem = std::move(objective);
    }
    auto machine = std::make_unique<RandomTrade>(rank, kNodes, seed, &tally, std::move(on_rest));
    trade = machine.get();
    runner = std::make_unique<Runner>(options, std::move(machine), problem.get(), &layout,
                                      optimizer.get(), &observer);
    transport = std::make_unique<MemoryTransport>(hub, rank, runner.get());
  }
  ~TradingNode() { transport->Shutdown(); }

  absl::Status Run() {
    return runner->Run(transport.get(), [](float* replica) {
      std::fill_n(replica, kElements, 1.0f);
      return absl::OkStatus();
    });
  }

  const ReplicaLayout layout = Layout();
  const std::unique_ptr<Optimizer> optimizer = *MakeOptimizer("sgd", {});
  NoObserver observer;
  TraceRecorder trace;
  RandomTrade::Tally tally;
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream;
  std::unique_ptr<Objective> problem;
  RandomTrade* trade = nullptr;
  std::unique_ptr<Runner> runner;
  std::unique_ptr<MemoryTransport> transport;
};

class RunnerOffers : public ::testing::TestWithParam<bool> {};

TEST_P(RunnerOffers, EveryPostAndEverySendEndsOnce) {
  PlaySeeds(8, 1, [&](uint64_t seed, Sightings& seen) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const auto hub = std::make_shared<MemoryHub>(kNodes);
    std::vector<std::unique_ptr<TradingNode>> nodes;
    std::atomic<Rank> rested = 0;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      nodes.push_back(std::make_unique<TradingNode>(rank, seed, GetParam(), hub, [&] {
        if (++rested < kNodes) return;
        for (const auto& node : nodes) node->runner->SetLimit(kSteps, /*final=*/true);
      }));
    }
    std::vector<std::future<absl::Status>> runs;
    for (const auto& node : nodes) {
      runs.push_back(std::async(std::launch::async, [&node] { return node->Run(); }));
    }
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    int64_t gained = 0;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      TradingNode& node = *nodes[rank];
      if (runs[rank].wait_until(deadline) != std::future_status::ready) {
        for (const auto& late : nodes) late->runner->Abort(absl::DeadlineExceededError("stuck"));
      }
      const absl::Status status = runs[rank].get();
      ASSERT_TRUE(status.ok()) << status;
      gained += node.trade->gained();
      EXPECT_THAT(node.runner->model().span(),
                  ::testing::Each(static_cast<float>(1 + node.trade->gained())));
      EXPECT_EQ(node.runner->staleness().gradients(), kSteps);
      seen.Count("taken", node.tally.taken);
      seen.Count("declined", node.tally.declined);
      seen.Count("met", node.tally.met);
      seen.Count("lost", node.tally.lost);
      int64_t sent = 0;
      for (const TraceRecord& record : node.trace.Take(rank).records) {
        if (record.kind == TraceKind::kSent) ++sent;
      }
      EXPECT_EQ(sent, node.transport->counters().messages_sent) << "what was declined left nothing";
    }
    EXPECT_EQ(gained, 0) << "what is taken is given";
  });
}

INSTANTIATE_TEST_SUITE_P(Memory, RunnerOffers, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "OnADevice" : "OnTheHost"; });

}  // namespace
}  // namespace grapevine::testing
