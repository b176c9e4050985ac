// The runner over the transport in memory: n nodes as n threads.
#include "node/runner/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "kernels/device/gpu.h"
#include "model/problem/host_objective.h"
#include "node/runner/device_data_path.h"
#include "node/runner/trace_recorder.h"
#include "node/transport/memory_transport.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/dpsgd_loop.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/function_objective.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kParameters = 41;
constexpr int64_t kBuffers = 4;

struct Experiment {
  std::string algorithm = "dpsgd";
  std::string topology = "ring";
  std::string mixing = "metropolis";
  Rank nodes = 5;
  Round rounds = 20;
  int window = 1;
  GradientFunction gradient = Quadratic(1, 1, 11);
  enum class Memory { kHost, kEmulatedDevice, kGpu };
  Memory memory = Memory::kHost;
  EmulatedDeviceOptions device = {};
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
  bool keeps_averages = false;  // until the test calls OnAverageDone
  std::atomic<bool> holds_average = false;
  std::thread evaluation;
  std::vector<RoundReport> reports;
  std::vector<std::vector<float>> models;
  std::vector<AveragedModel> averages;
};

// One node of an experiment, ready to run on a thread of its own.
struct NodeUnderTest {
  NodeUnderTest(const Experiment& experiment, Rank rank, std::shared_ptr<MemoryHub> hub,
                RunnerOptions options) {
    ReplicaLayout layout;
    layout.AddParameter("x", {kParameters});
    layout.AddBuffer("b", {kBuffers});
    owned = std::make_unique<FunctionObjective>(rank, layout, experiment.gradient);
    objective = owned.get();
    optimizer = *MakeOptimizer("sgd", {.momentum = 0.9});
    auto mixing =
        *MakeMixing(experiment.mixing, *MakeTopology(experiment.topology, experiment.nodes, 1));
    auto algorithm =
        *MakeAlgorithm(experiment.algorithm, {.rank = rank,
                                              .mixing = mixing,
                                              .learning_rate = [](Round) { return 0.1; },
                                              .window = experiment.window});
    if (experiment.memory != Experiment::Memory::kHost) PutOnDevice(experiment, rank, &options);
    options.rank = rank;
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

  void PutOnDevice(const Experiment& experiment, Rank rank, RunnerOptions* options) {
    EmulatedDeviceOptions emulated = experiment.device;
    emulated.seed += static_cast<uint64_t>(rank);
    const bool gpu = experiment.memory == Experiment::Memory::kGpu;
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

class Fleet {
 public:
  explicit Fleet(
      const Experiment& experiment,
      std::function<bool(Round)> evaluate = [](Round) { return false; }, Round limit = 0) {
    auto hub = std::make_shared<MemoryHub>(experiment.nodes);
    for (Rank rank = 0; rank < experiment.nodes; ++rank) {
      nodes.push_back(std::make_unique<NodeUnderTest>(
          experiment, rank, hub,
          RunnerOptions{.rounds = experiment.rounds,
                        .limit = limit > 0 ? limit : experiment.rounds,
                        .evaluate = evaluate}));
    }
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
};

std::vector<float> ClusterReplica(const Experiment& experiment, Rank rank) {
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

void ExpectTheBitsOfACluster(const Experiment& experiment) {
  Fleet fleet(experiment);
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    const auto model = fleet.nodes[rank]->runner->model().span();
    EXPECT_EQ(std::vector<float>(model.begin(), model.end()), ClusterReplica(experiment, rank))
        << "rank " << rank;
  }
}

class RunnerParity
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, Rank, int>> {
 protected:
  static Experiment Parameters() {
    const auto [algorithm, topology, nodes, window] = GetParam();
    return {.algorithm = algorithm, .topology = topology, .nodes = nodes, .window = window};
  }
};

TEST_P(RunnerParity, ThreadsAndAShuffledQueueGiveTheSameBits) {
  ExpectTheBitsOfACluster(Parameters());
}

// Streams that do everything as late as they may: whatever forgot to wait shows.
TEST_P(RunnerParity, OnADeviceTheBitsAreTheSame) {
  Experiment experiment = Parameters();
  experiment.memory = Experiment::Memory::kEmulatedDevice;
  for (const uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    experiment.device.seed = 1000 * seed;
    ExpectTheBitsOfACluster(experiment);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RunnerParity,
    ::testing::Combine(::testing::Values("dpsgd", "dpsgd:order=atc", "allreduce"),
                       ::testing::Values("ring", "complete", "one-peer-exponential",
                                         "random-matching"),
                       ::testing::Values(1, 2, 5), ::testing::Values(1, 2)));

INSTANTIATE_TEST_SUITE_P(
    Allreduce, RunnerParity,
    ::testing::Combine(::testing::Values("allreduce:halving-doubling", "allreduce:tree",
                                         "allreduce:hierarchical", "allreduce:torus",
                                         "allreduce:recursive-doubling",
                                         "allreduce:double-tree:pieces=3",
                                         "allreduce:tree:buckets=3"),
                       ::testing::Values("ring"), ::testing::Values(6, 7), ::testing::Values(1)));

INSTANTIATE_TEST_SUITE_P(PushSum, RunnerParity,
                         ::testing::Combine(::testing::Values("sgp", "sgp:overlap=2"),
                                            ::testing::Values("ring", "one-peer-exponential"),
                                            ::testing::Values(1, 5), ::testing::Values(1, 2)));

INSTANTIATE_TEST_SUITE_P(ParameterServer, RunnerParity,
                         ::testing::Combine(::testing::Values("ps", "ps:servers=2"),
                                            ::testing::Values("ring"), ::testing::Values(3, 5),
                                            ::testing::Values(1)));

// On graphs of unequal degree, and with weights that are not the default.
class RunnerOnWeightedGraphs : public ::testing::TestWithParam<WeightedGraph> {
 protected:
  static void ExpectReplicas(const Experiment& experiment, const Replicas& expected) {
    Fleet fleet(experiment);
    for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
    for (Rank rank = 0; rank < experiment.nodes; ++rank) {
      const auto model = fleet.nodes[rank]->runner->model().span();
      for (int64_t e = 0; e < kParameters; ++e) {
        EXPECT_NEAR(model[e], expected[rank][e], 2e-6) << "rank " << rank;
      }
    }
  }
};

TEST_P(RunnerOnWeightedGraphs, ThreadsAreALoopOverW) {
  Experiment experiment{.topology = GetParam().topology,
                        .mixing = GetParam().mixing,
                        .nodes = WeightedGraph::kNodes,
                        .gradient = Quadratic(1, 0, 1, UnlikeOptimum)};
  DpsgdLoop loop{.w = GetParam().w, .learning_rate = 0.1, .momentum = 0.9};
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    loop.optima.emplace_back(kParameters, UnlikeOptimum(rank));
  }
  const Replicas zeros(experiment.nodes, std::vector<double>(kParameters));
  for (const bool atc : {false, true}) {
    experiment.algorithm = atc ? "dpsgd:order=atc" : "dpsgd";
    loop.atc = atc;
    const Replicas expected = After(experiment.rounds, loop, zeros);
    for (const int window : {1, 2, 4}) {
      experiment.window = window;
      for (const auto memory : {Experiment::Memory::kHost, Experiment::Memory::kEmulatedDevice}) {
        experiment.memory = memory;
        SCOPED_TRACE(absl::StrCat(experiment.algorithm, ", window ", window,
                                  memory == Experiment::Memory::kHost ? "" : ", on a device"));
        ExpectReplicas(experiment, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, RunnerOnWeightedGraphs, ::testing::ValuesIn(WeightedGraphs()),
                         [](const auto& info) { return info.param.name; });

TEST(RunnerOnAGpu, TheBitsAreTheSame) {
  if (const auto gpus = FindGpus(); !gpus.ok()) GTEST_SKIP() << gpus.status().message();
  for (const char* algorithm : {"dpsgd", "dpsgd:order=atc", "allreduce", "ps"}) {
    for (const char* topology : {"ring", "one-peer-exponential"}) {
      SCOPED_TRACE(std::string(algorithm) + " on " + topology);
      ExpectTheBitsOfACluster({.algorithm = algorithm,
                               .topology = topology,
                               .nodes = 4,
                               .window = 2,
                               .memory = Experiment::Memory::kGpu});
    }
  }
}

TEST(Runner, TheAverageOfAParameterServersRunIsThatOfItsWorkers) {
  const Experiment experiment{.algorithm = "ps:servers=2", .nodes = 6};
  Fleet fleet(experiment, [](Round completed) { return completed % 10 == 0; });
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  const auto& averages = fleet.nodes[0]->recorder.averages;
  ASSERT_EQ(averages.size(), 2u);
  for (const AveragedModel& average : averages) {
    for (int64_t i = 0; i < kParameters + kBuffers; ++i) {
      EXPECT_NEAR(average.model.data[i], fleet.nodes[3]->recorder.models[average.round - 1][i],
                  1e-6);
    }
    EXPECT_EQ(average.consensus_distance, 0);
  }
  for (Rank server : {4, 5}) {
    EXPECT_EQ(fleet.nodes[server]->recorder.reports.size(), 20u);
    EXPECT_EQ(fleet.nodes[server]->recorder.models.back().size(), 0u);
    EXPECT_EQ(fleet.nodes[server]->runner->model().data, nullptr);
  }
}

TEST(Runner, TheAveragedModelAndTheConsensusDistanceAreExact) {
  const Experiment experiment{.nodes = 7, .rounds = 9};
  Fleet fleet(experiment, [](Round completed) { return completed % 3 == 0; });
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  const auto& averages = fleet.nodes[0]->recorder.averages;
  ASSERT_EQ(averages.size(), 3u);
  for (size_t k = 0; k < averages.size(); ++k) {
    const Round round = 3 * static_cast<Round>(k + 1);
    EXPECT_EQ(averages[k].round, round);
    double distance = 0;
    for (int64_t i = 0; i < kParameters + kBuffers; ++i) {
      double mean = 0;
      for (const auto& node : fleet.nodes) mean += node->recorder.models[round - 1][i] / 7;
      EXPECT_NEAR(averages[k].model.data[i], mean, 1e-6);
      for (const auto& node : fleet.nodes) {
        if (i < kParameters)
          distance += std::pow(node->recorder.models[round - 1][i] - mean, 2) / 7;
      }
    }
    EXPECT_NEAR(*averages[k].consensus_distance / distance, 1, 1e-5);
  }
  EXPECT_TRUE(fleet.nodes[1]->recorder.averages.empty());
}

TEST(Runner, OneAverageIsOutAtATimeAndNoneIsSkipped) {
  const Experiment experiment{.nodes = 4, .rounds = 12};
  Fleet fleet(experiment, [](Round) { return true; });
  const Recorder& recorder = fleet.nodes[0]->recorder;
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(recorder.averages.size(), 12u);
  for (size_t k = 0; k < 12; ++k) EXPECT_EQ(recorder.averages[k].round, static_cast<Round>(k + 1));
}

TEST(Runner, TellsATraceWhatItDoes) {
  const Experiment experiment{.topology = "complete", .nodes = 3, .rounds = 6};
  TraceRecorder traces[3];
  auto hub = std::make_shared<MemoryHub>(experiment.nodes);
  std::vector<std::unique_ptr<NodeUnderTest>> nodes;
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    // Averages are taken: their messages are not the algorithm's.
    nodes.push_back(std::make_unique<NodeUnderTest>(
        experiment, rank, hub,
        RunnerOptions{.rounds = experiment.rounds,
                      .limit = experiment.rounds,
                      .evaluate = [](Round completed) { return completed == 6; },
                      .trace = &traces[rank]}));
  }
  std::vector<std::thread> threads;
  for (auto& node : nodes) threads.emplace_back([&node] { EXPECT_TRUE(node->Run().ok()); });
  for (std::thread& thread : threads) thread.join();
  for (Rank rank = 0; rank < experiment.nodes; ++rank) {
    std::map<TraceKind, int> count;
    const NodeTrace trace = traces[rank].Take(rank);
    for (const TraceRecord& record : trace.records) {
      ++count[record.kind];
      EXPECT_LE(record.begin, record.end);
      EXPECT_GE(record.begin, trace.start);
      EXPECT_NE(record.peer, record.kind == TraceKind::kSent ? rank : -1);
      if (record.kind == TraceKind::kSent) {
        EXPECT_EQ(record.bytes, 4 * (kParameters + kBuffers));
      }
    }
    EXPECT_EQ(count[TraceKind::kStep], 6);
    EXPECT_EQ(count[TraceKind::kGradient], 6);
    EXPECT_EQ(count[TraceKind::kSent], 12);
    EXPECT_EQ(count[TraceKind::kReceived], 12);
    EXPECT_GE(count[TraceKind::kMix], 6);
  }
}

TEST(Runner, AnOpenEndMovesUntilItIsFinal) {
  const Experiment experiment{.nodes = 3, .rounds = 1000};
  Fleet fleet(
      experiment, [](Round) { return false; }, /*limit=*/5);
  for (const auto& node : fleet.nodes) {
    node->runner->SetLimit(8, false);
    node->runner->SetLimit(12, true);
  }
  for (const absl::Status& status : fleet.Run()) ASSERT_TRUE(status.ok()) << status;
  for (const auto& node : fleet.nodes) EXPECT_EQ(node->recorder.reports.back().completed, 12);
}

// Computes when it is told to, on the thread that tells it.
class GradientsOnDemand final : public GradientComputer {
 public:
  GradientsOnDemand(Objective* objective, GradientReports reports)
      : objective_(objective), reports_(std::move(reports)) {}
  void Compute(SharedVector at, SharedVector into, Round round, std::vector<int64_t>) override {
    work = [=, this] {
      absl::StatusOr<double> loss = objective_->Gradient(at.data.get(), round, into.data.get());
      reports_.done({round, std::move(loss), {}, {}});
    };
  }
  std::function<void()> work;

 private:
  Objective* const objective_;
  const GradientReports reports_;
};

// A node at a clock and with gradients of the test's own; alone where there is no hub.
struct SteppedNode {
  SteppedNode() : SteppedNode({.nodes = 1, .rounds = 3}, 0, std::make_shared<MemoryHub>(1)) {}
  SteppedNode(
      const Experiment& experiment, Rank rank, std::shared_ptr<MemoryHub> hub,
      std::function<bool(Round)> evaluate = [](Round) { return false; },
      std::optional<Round> limit = {})
      : alone(experiment, rank, std::move(hub),
              Options(experiment.rounds, limit.value_or(experiment.rounds), std::move(evaluate))) {}

  RunnerOptions Options(Round rounds, Round limit, std::function<bool(Round)> evaluate) {
    return {.rounds = rounds,
            .limit = limit,
            .evaluate = std::move(evaluate),
            .gradients =
                [this](GradientReports reports) {
                  auto made =
                      std::make_unique<GradientsOnDemand>(alone.objective, std::move(reports));
                  gradients = made.get();
                  return made;
                },
            .now = [this] { return now; }};
  }
  absl::Status Begin() {
    return alone.runner->BeginRun(alone.transport.get(), [this](float* replica) {
      alone.objective->Initialize(replica);
      return absl::OkStatus();
    });
  }

  // Computes the gradient that was asked for, and handles what has come.
  void Step() {
    if (gradients->work) std::exchange(gradients->work, {})();
    EXPECT_TRUE(alone.runner->HandleMail().ok());
  }
  Progress progress() const { return alone.runner->progress(); }

  std::chrono::steady_clock::time_point now{};
  GradientsOnDemand* gradients = nullptr;
  NodeUnderTest alone;
};

TEST(Runner, RunsInStepsOnADriversThreadAndClock) {
  SteppedNode node;
  ASSERT_TRUE(node.Begin().ok());
  Runner& runner = *node.alone.runner;
  for (Round round = 0; round < 3; ++round) {
    EXPECT_FALSE(runner.finished());
    EXPECT_EQ(runner.progress().round, round);
    node.now += std::chrono::seconds(2);
    std::exchange(node.gradients->work, {})();
    ASSERT_TRUE(runner.HandleMail().ok());
    EXPECT_EQ(node.alone.recorder.reports.back().time, std::chrono::seconds(2));
  }
  EXPECT_TRUE(runner.finished());
  runner.EndRun();
  const auto model = runner.model().span();
  EXPECT_EQ(std::vector<float>(model.begin(), model.end()),
            ClusterReplica({.nodes = 1, .rounds = 3}, 0));
}

TEST(Runner, SaysForWhomItWaitsWhenItHasNothingElseToDo) {
  const Experiment experiment{.nodes = 2, .rounds = 3};
  auto hub = std::make_shared<MemoryHub>(2);
  SteppedNode here(experiment, 0, hub), there(experiment, 1, hub);
  ASSERT_TRUE(here.Begin().ok());
  ASSERT_TRUE(here.alone.runner->HandleMail().ok());
  EXPECT_EQ(here.progress().doing, "computing");
  EXPECT_THAT(here.progress().waiting_for, IsEmpty()) << "its neighbour's replica, but not yet";
  here.Step();
  EXPECT_EQ(here.progress().doing, "waiting");
  EXPECT_THAT(here.progress().waiting_for, ElementsAre(1));
}

// The replicas of the next round are there, and wait behind the evaluation.
TEST(Runner, AnEvaluationThatHoldsTheRunUpIsNoWait) {
  const Experiment experiment{.nodes = 2, .rounds = 9};
  auto hub = std::make_shared<MemoryHub>(2);
  const auto always = [](Round) { return true; };
  SteppedNode zero(experiment, 0, hub, always), one(experiment, 1, hub, always);
  zero.alone.recorder.keeps_averages = true;
  ASSERT_TRUE(zero.Begin().ok());
  ASSERT_TRUE(one.Begin().ok());
  const auto go_on_until = [&](const std::function<bool()>& condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < deadline) zero.Step(), one.Step();
    return condition();
  };
  const auto held_up_in = [&](Round round) {
    return zero.progress().round == round && zero.progress().doing == "evaluating" &&
           one.progress().waiting_for == std::vector<Rank>{0};
  };
  EXPECT_TRUE(go_on_until([&] { return held_up_in(2); }))
      << zero.progress().doing << " in round " << zero.progress().round;
  EXPECT_THAT(zero.progress().waiting_for, IsEmpty());
  // Each average that is let go lets the run go on by a round.
  zero.alone.recorder.holds_average = false;
  zero.alone.runner->OnAverageDone();
  EXPECT_TRUE(go_on_until([&] { return held_up_in(3); }));
  zero.alone.runner->EndRun();
  one.alone.runner->EndRun();
}

// What moves the limit may wait behind an evaluation with the gradient before it, which
// then comes to rest at the limit of old.
TEST(Runner, ALimitThatMovesWhileTheRunIsHeldUpIsNotTheEndOfOld) {
  const auto always = [](Round) { return true; };
  SteppedNode node({.nodes = 1, .rounds = 1000}, 0, std::make_shared<MemoryHub>(1), always,
                   /*limit=*/3);
  Runner& runner = *node.alone.runner;
  node.alone.recorder.keeps_averages = true;
  ASSERT_TRUE(node.Begin().ok());
  const auto let_average_go = [&] {
    node.alone.recorder.holds_average = false;
    runner.OnAverageDone();
    node.Step();
  };
  for (int step = 0; step < 3; ++step) node.Step();
  ASSERT_EQ(node.progress().doing, "evaluating") << "round 1, and what ends round 3 waits";
  ASSERT_EQ(node.progress().round, 2);
  runner.SetLimit(6, false);
  let_average_go();
  ASSERT_EQ(node.progress().round, 3);
  runner.SetLimit(6, true);
  for (int step = 0; step < 10 && !runner.finished(); ++step) let_average_go();
  EXPECT_TRUE(runner.finished());
  EXPECT_EQ(node.alone.recorder.reports.back().completed, 6);
  runner.EndRun();
}

TEST(Runner, APeerThatDoesNotFitIsNoLostPeer) {
  for (const Failure known : {Failure::kOther, Failure::kRendezvous}) {
    Fleet fleet({.nodes = 2});
    Runner& runner = *fleet.nodes[0]->runner;
    runner.OnPeerFailed(1, WithFailure(absl::FailedPreconditionError("another topology"), known));
    const absl::Status status = fleet.nodes[0]->Run();
    EXPECT_EQ(FailureOf(status), known == Failure::kOther ? Failure::kPeerLost : known);
    EXPECT_THAT(std::string(status.message()), HasSubstr("lost rank 1 in round 0: another"));
  }
}

TEST(Runner, ALossThatIsNotANumberNamesRankAndRound) {
  const Experiment experiment{.nodes = 1};
  Fleet fleet(experiment);
  fleet.nodes[0]->objective->set_loss(std::numeric_limits<double>::quiet_NaN());
  const absl::Status status = fleet.Run()[0];
  EXPECT_EQ(FailureOf(status), Failure::kDiverged);
  EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0: the loss became nan in round 0"));
}

TEST(Runner, AGradientThatIsNotFiniteIsNamed) {
  for (const auto memory : {Experiment::Memory::kHost, Experiment::Memory::kEmulatedDevice}) {
    Fleet fleet({.nodes = 1, .memory = memory});
    fleet.nodes[0]->objective->set_loss(std::numeric_limits<double>::infinity());
    fleet.nodes[0]->objective->set_gradient(std::numeric_limits<float>::quiet_NaN());
    EXPECT_THAT(std::string(fleet.Run()[0].message()),
                HasSubstr("the loss became inf in round 0, and x of its gradient is not finite"));
  }
}

// The first error of rank 0 on a device with room for so many replicas.
absl::Status RunWithMemoryFor(double replicas, const std::string& algorithm) {
  Experiment experiment{
      .algorithm = algorithm, .nodes = 3, .memory = Experiment::Memory::kEmulatedDevice};
  experiment.device.memory =
      static_cast<int64_t>(replicas * (kParameters + kBuffers)) * int64_t{sizeof(float)};
  return Fleet(experiment).nodes[0]->Run();  // its peers never run
}

TEST(Runner, ADeviceWithoutMemoryEndsTheRunAndTheErrorNamesRankRoundAndVector) {
  struct Case {
    double replicas;
    const char* algorithm;
    const char* vector;
  };
  for (const auto& [replicas, algorithm, vector] : {
           Case{0.5, "dpsgd", "the starting replica (a vector of 45 elements)"},
           Case{1.5, "dpsgd", "the optimizer's state (a vector of 41 elements)"},
           Case{2.5, "dpsgd", "a neighbour's replica (a vector of 45 elements)"},
           Case{4.5, "dpsgd", "the gradient (a vector of 45 elements)"},
           Case{2.5, "allreduce", "an allreduce's partial sums (a vector of 30 elements)"},
           Case{1.5, "ps", "the gradient (a vector of 45 elements)"},
       }) {
    const absl::Status status = RunWithMemoryFor(replicas, algorithm);
    EXPECT_EQ(FailureOf(status), Failure::kDevice) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(absl::StrCat("rank 0, round 0: no memory for ", vector)));
  }
}

TEST(Runner, ADeviceThatIsLostEndsTheRun) {
  for (const int64_t work : {1, 50, 150, 250}) {
    Experiment experiment{.nodes = 1, .memory = Experiment::Memory::kEmulatedDevice};
    experiment.device.work = work;
    Fleet fleet(experiment);
    const absl::Status status = fleet.Run()[0];
    EXPECT_EQ(FailureOf(status), Failure::kDevice) << status << " after " << work;
    EXPECT_THAT(std::string(status.message()), HasSubstr("rank 0, round "));
    EXPECT_THAT(std::string(status.message()), HasSubstr("the emulated device is lost"));
  }
}

TEST(Runner, AnAbortEndsTheRunWithItsReason) {
  const Experiment experiment{.nodes = 2};
  Fleet fleet(experiment);  // of which rank 1 never runs
  fleet.nodes[0]->runner->Abort(
      WithFailure(absl::CancelledError("interrupted"), Failure::kInterrupted));
  EXPECT_EQ(FailureOf(fleet.nodes[0]->Run()), Failure::kInterrupted);
}

TEST(Runner, ALostPeerIsNamedWithTheRound) {
  const Experiment experiment{.nodes = 2};
  Fleet fleet(experiment);  // of which rank 1 never runs
  fleet.nodes[0]->runner->OnPeerFailed(1, absl::UnavailableError("the connection broke"));
  const absl::Status status = fleet.nodes[0]->Run();
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 0 lost rank 1 in round 0: the connection broke"));
}

// Its loss may be noticed by a message to it before the mail that tells of it is read. A node
// that did not name it would be blamed itself.
TEST(Runner, APeerThatTakesNothingMoreIsTheOneThatIsLost) {
  Fleet fleet({.nodes = 2});
  fleet.nodes[1]->transport->Shutdown();
  const absl::Status status = fleet.nodes[0]->Run();
  EXPECT_EQ(FailureOf(status), Failure::kPeerLost);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("rank 0 lost rank 1 in round 0: rank 1 left the run"));
  EXPECT_EQ(fleet.nodes[0]->runner->lost_peer(), 1);
}

}  // namespace
}  // namespace grapevine::testing
