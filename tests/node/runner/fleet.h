// Runners over the transport in memory: n nodes as n threads of a test.
#ifndef GRAPEVINE_TESTS_NODE_RUNNER_FLEET_H_
#define GRAPEVINE_TESTS_NODE_RUNNER_FLEET_H_

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "kernels/device/device.h"
#include "model/problem/objective_wrappers.h"
#include "node/runner/device_data_path.h"
#include "node/runner/runner.h"
#include "node/transport/memory_transport.h"
#include "tests/algorithm/quadratics.h"
#include "tests/node/runner/fleet_desk.h"
#include "tests/testing/cluster.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/function_objective.h"

namespace grapevine::testing {

inline constexpr int64_t kParameters = 41;
inline constexpr int64_t kBuffers = 4;

// What the nodes of a fleet train, and where.
struct FleetOptions {
  std::string algorithm = "dpsgd";
  std::string topology = "ring";
  std::string mixing = "metropolis";
  Rank nodes = 5;
  Round rounds = 20;
  int window = 1;
  double momentum = 0.9;
  double max_norm = kAnyNorm;
  bool resilient = false;  // RunnerOptions'
  GradientFunction gradient = Quadratic(1, 1, 11);
  enum class Memory { kHost, kEmulatedDevice, kGpu };
  Memory memory = Memory::kHost;
  EmulatedDeviceOptions device = {};
  // After which rounds the nodes save what they have.
  std::function<bool(Round)> saved = {};
  bool saves_on_call = false;  // RunnerOptions'
};

// Keeps what a run tells its observer.
class Recorder final : public RunObserver {
 public:
  absl::Status OnRound(const RoundReport& report, const BoundaryModel& model) override {
    reports.push_back(report);
    models.emplace_back();
    if (!model.exists()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const SharedVector read, model.Read());
    models.back().assign(read.span().begin(), read.span().end());
    return absl::OkStatus();
  }
  void OnSteps(const StepsReport& report) override { on_steps(report); }
  void OnPeerLost(Rank peer, const absl::Status& why) override { lost.emplace_back(peer, why); }
  void OnState(SavedNode node) override {
    states.push_back(std::move(node));
    if (!keeps_states) runner->OnStateWritten();
  }
  // Lets it go on another thread, a little later.
  void OnAverage(AveragedModel average) override {
    EXPECT_FALSE(holds_average) << "round " << average.round;
    holds_average = true;
    averages.push_back(std::move(average));
    AwaitEvaluation();
    if (keeps_averages) return;
    evaluation = std::thread([this] {
      holds_average = false;
      runner->OnAverageDone();
    });
  }
  void AwaitEvaluation() {
    if (evaluation.joinable()) evaluation.join();
  }

  Runner* runner = nullptr;
  std::function<void(const StepsReport&)> on_steps;
  bool keeps_averages = false;  // until the test calls OnAverageDone
  bool keeps_states = false;    // until the test calls OnStateWritten
  std::vector<SavedNode> states;
  std::atomic<bool> holds_average = false;
  std::thread evaluation;
  std::vector<RoundReport> reports;
  std::vector<std::vector<float>> models;
  std::vector<AveragedModel> averages;
  std::vector<std::pair<Rank, absl::Status>> lost;
};

// One node of a fleet, ready to run on a thread of its own.
struct NodeUnderTest {
  NodeUnderTest(const FleetOptions& experiment, Rank rank, std::shared_ptr<MemoryHub> hub,
                RunnerOptions options) {
    ReplicaLayout layout;
    layout.AddParameter("x", {kParameters});
    layout.AddBuffer("b", {kBuffers});
    owned = std::make_unique<FunctionObjective>(rank, layout, experiment.gradient);
    objective = owned.get();
    optimizer = *MakeOptimizer("sgd", {.momentum = experiment.momentum});
    auto mixing =
        *MakeMixing(experiment.mixing, *MakeTopology(experiment.topology, experiment.nodes, 1));
    auto algorithm =
        *MakeAlgorithm(experiment.algorithm, {.rank = rank,
                                              .mixing = mixing,
                                              .learning_rate = [](Round) { return 0.1; },
                                              .window = experiment.window});
    if (experiment.memory != FleetOptions::Memory::kHost) PutOnDevice(experiment, rank, &options);
    options.rank = rank;
    options.saved = experiment.saved;
    options.saves_on_call = experiment.saves_on_call;
    options.max_norm = experiment.max_norm;
    options.changes_views = experiment.resilient;
    options.workers = *WorkerCount(experiment.algorithm, experiment.nodes);
    const bool trains = rank < options.workers;
    Objective* trained = objective;
    if (on_device != nullptr) trained = on_device.get();
    runner = std::make_unique<Runner>(options, std::move(algorithm), trains ? trained : nullptr,
                                      &objective->layout(), optimizer.get(), &recorder);
    recorder.runner = runner.get();
    transport = std::make_unique<MemoryTransport>(hub, rank, runner.get());
  }
  ~NodeUnderTest() {
    recorder.AwaitEvaluation();
    transport->Shutdown();
  }

  absl::Status Run() {
    return runner->Run(transport.get(), [this](float* replica) {
      objective->Initialize(replica);
      return absl::OkStatus();
    });
  }

  void PutOnDevice(const FleetOptions& experiment, Rank rank, RunnerOptions* options) {
    EmulatedDeviceOptions emulated = experiment.device;
    emulated.seed += static_cast<uint64_t>(rank);
    const bool gpu = experiment.memory == FleetOptions::Memory::kGpu;
    device = gpu ? *OpenGpu(0) : std::unique_ptr<Device>(new EmulatedDevice(emulated));
    stream = *device->NewStream();
    on_device = *HostObjective::Make(std::move(owned), {device.get(), stream.get()});
    options->data_path = [this](OnPass on_pass, std::function<void(absl::Status)> on_failure) {
      // Several chunks in a vector, the last one short.
      return DeviceDataPath::Make({.device = device.get(), .gradients = stream.get(), .chunk = 7},
                                  std::move(on_pass), std::move(on_failure));
    };
  }

  Recorder recorder;
  std::unique_ptr<Device> device;
  std::unique_ptr<DeviceStream> stream;
  std::unique_ptr<FunctionObjective> owned;
  FunctionObjective* objective = nullptr;
  std::unique_ptr<HostObjective> on_device;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<Runner> runner;
  std::unique_ptr<MemoryTransport> transport;
};

// n nodes as n threads, over the transport in memory.
class Fleet {
 public:
  explicit Fleet(
      const FleetOptions& experiment,
      std::function<bool(Round)> evaluate = [](Round) { return false; }, Round limit = 0) {
    auto hub = std::make_shared<MemoryHub>(experiment.nodes);
    const bool shares_budget = !HasRounds(experiment.algorithm);
    RunnerOptions options{
        .rounds = experiment.rounds, .shares_budget = shares_budget, .evaluate = evaluate};
    if (!shares_budget) options.limit = limit > 0 ? limit : experiment.rounds;
    for (Rank rank = 0; rank < experiment.nodes; ++rank) {
      nodes.push_back(std::make_unique<NodeUnderTest>(experiment, rank, hub, options));
    }
    if (shares_budget) ShareBudget(experiment, evaluate);
  }

  std::vector<absl::Status> Run() {
    std::vector<absl::Status> statuses(nodes.size());
    std::vector<std::thread> threads;
    for (size_t i = 0; i < nodes.size(); ++i) {
      threads.emplace_back([this, i, &statuses] { statuses[i] = nodes[i]->Run(); });
    }
    for (std::thread& thread : threads) thread.join();
    return statuses;
  }

  std::vector<std::unique_ptr<NodeUnderTest>> nodes;

 private:
  void ShareBudget(const FleetOptions& experiment, const std::function<bool(Round)>& evaluate) {
    desk_ = std::make_unique<FleetDesk>(
        BudgetDeskOptions{.nodes = experiment.nodes,
                          .workers = *WorkerCount(experiment.algorithm, experiment.nodes),
                          .window = StepsBetweenExchanges(experiment.algorithm),
                          .rounds = experiment.rounds,
                          .measured = evaluate,
                          .evaluated = evaluate});
    std::vector<Runner*> runners;
    for (Rank rank = 0; rank < experiment.nodes; ++rank) {
      runners.push_back(nodes[rank]->runner.get());
      nodes[rank]->recorder.on_steps = [this, rank](const StepsReport& report) {
        desk_->OnSteps(rank, report);
      };
    }
    desk_->Begin(std::move(runners), experiment.rounds);
  }

  std::unique_ptr<FleetDesk> desk_;  // where nodes share a budget
};

// The replica of a rank after the same run in the shuffled cluster.
inline std::vector<float> ClusterReplica(const FleetOptions& experiment, Rank rank) {
  Cluster cluster({.algorithm = experiment.algorithm,
                   .topology = experiment.topology,
                   .mixing = experiment.mixing,
                   .nodes = experiment.nodes,
                   .parameters = kParameters,
                   .buffers = kBuffers,
                   .learning_rate = 0.1,
                   .momentum = 0.9,
                   .gradient = experiment.gradient});
  EXPECT_TRUE(cluster.Run(experiment.rounds).ok());
  return {cluster.replica(rank).begin(), cluster.replica(rank).end()};
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_RUNNER_FLEET_H_
