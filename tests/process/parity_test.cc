// One seed, the same bits: over gRPC and processes, twice, in memory with
// threads, and in the simulator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "algorithm/algorithm.h"
#include "experiment/core/experiment.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/memory_run.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

using Flags = std::map<std::string, std::string>;

constexpr Round kRounds = 6;

struct Method {
  std::string algorithm, topology;
  int nodes = 3;
  int servers = 0;  // the last ones, which hold no model
  std::string mixing = "metropolis";
  int window = 0;
  std::string model = "lenet5";
  int every = 1;  // rounds from one exchange to the next
  int workers() const { return nodes - servers; }
  friend std::ostream& operator<<(std::ostream& out, const Method& method) {
    return out << method.algorithm << " on " << method.topology << " of " << method.nodes
               << ", mixing " << method.mixing << ", window " << method.window;
  }
};

// Degrees are unequal, or weights not the default; windows beyond those that are chosen.
std::vector<Method> OnWeightedGraphs(const std::string& algorithm) {
  std::vector<Method> methods;
  for (const WeightedGraph& graph : WeightedGraphs()) {
    methods.push_back({.algorithm = algorithm,
                       .topology = graph.topology,
                       .nodes = WeightedGraph::kNodes,
                       .mixing = graph.mixing,
                       .window = 4,
                       .model = "softmax"});
  }
  return methods;
}

// Push-sum, whose weights differ here: on a directed graph of unequal degrees, and on a star.
std::vector<Method> PushSum() {
  const std::string graph = ::testing::TempDir() + "/one_way.edges";
  std::ofstream(graph) << "0 -> 1\n0 -> 2\n1 -> 2\n2 -> 3\n3 -> 0\n3 -> 1\n";
  std::vector<Method> methods;
  for (const char* algorithm : {"sgp", "sgp:overlap=2"}) {
    methods.push_back(
        {.algorithm = algorithm, .topology = "file:" + graph, .nodes = 4, .mixing = "out-degree"});
    methods.push_back(
        {.algorithm = algorithm, .topology = "star", .nodes = 3, .mixing = "out-degree"});
  }
  methods.push_back({.algorithm = "sgp:overlap=1", .topology = "one-peer-exponential", .nodes = 4});
  return methods;
}

Flags SmallExperiment(const Method& method) {
  return {{"nodes", std::to_string(method.nodes)},
          {"topology", method.topology},
          {"algorithm", method.algorithm},
          {"mixing", method.mixing},
          {"window", std::to_string(method.window)},
          {"model", method.model},
          {"data", "synthetic:train=512:test=200"},
          {"batch", "8"},
          {"rounds", std::to_string(kRounds)},
          {"log_every", "2"},
          {"eval_every", "0.1"}};  // epochs: some rounds are, some are not
}

// What all nodes send for a round, as docs/algorithms.md has it: beside the counting of
// any node.
int64_t RoundPayload(const Experiment& experiment, const Method& method, Round round) {
  const int64_t replica = experiment.layout().size * int64_t{sizeof(float)};
  if ((round + 1) % method.every != 0) return 0;
  if (method.servers > 0) return 2 * replica * method.workers();
  if (method.algorithm == "allreduce:recursive-doubling") {
    // 2^k ranks exchange k times; the others give their vectors away and get sums.
    const auto nodes = static_cast<unsigned>(method.nodes);
    const int64_t doubled = std::bit_floor(nodes);
    return replica * (doubled * std::countr_zero(std::bit_floor(nodes)) + 2 * (nodes - doubled));
  }
  if (IsCentralized(method.algorithm)) return 2 * replica * (method.nodes - 1);
  int64_t messages = 0;
  std::vector<Rank> neighbours;
  for (Rank rank = 0; rank < method.nodes; ++rank) {
    experiment.mixing().topology().OutNeighbours(rank, round / method.every, &neighbours);
    messages += static_cast<int64_t>(neighbours.size());
  }
  return messages * replica;
}

struct Payload {
  int64_t training = 0;
  int64_t evaluation = 0;
  bool operator==(const Payload&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Payload& payload) {
    return out << payload.training << " bytes to train, " << payload.evaluation << " to evaluate";
  }
};

// By completed rounds. A merge of models moves every worker's but rank 0's, each with its
// sums of distances.
std::vector<Payload> ExpectedPayload(const Experiment& experiment, const Method& method) {
  const int64_t merge =
      (method.workers() - 1) *
      (experiment.layout().size * int64_t{sizeof(float)} + 2 * int64_t{sizeof(double)});
  std::vector<Payload> expected(1);
  for (Round completed = 1; completed <= kRounds; ++completed) {
    Payload next = expected.back();
    next.training += RoundPayload(experiment, method, completed - 1);
    next.evaluation += experiment.plan().Evaluated(completed) ? merge : 0;
    expected.push_back(next);
  }
  EXPECT_GT(expected.back().evaluation, merge);
  return expected;
}

Payload PayloadOf(const nlohmann::json& json) {
  return {json.at("bytes_sent_total"), json.at("evaluation_bytes_sent_total")};
}

void ExpectPayload(const std::string& run, const Experiment& experiment,
                   const std::vector<Payload>& expected) {
  SCOPED_TRACE(run);
  EXPECT_EQ(PayloadOf(SummaryOf(run)), expected.back());
  const std::vector<nlohmann::json> lines = JsonLines(run + "/metrics.jsonl");
  size_t measured = 0;
  for (Round completed = 1; completed <= kRounds; ++completed) {
    measured += experiment.plan().Measured(completed) ? 1 : 0;
  }
  EXPECT_EQ(lines.size(), measured);
  for (const nlohmann::json& line : lines) {
    EXPECT_EQ(PayloadOf(line), expected[line.at("round")]) << line;
  }
}

// What the nodes of a run say that they sent and received.
std::vector<std::vector<int64_t>> NodePayload(const std::string& run, int workers) {
  std::vector<std::vector<int64_t>> counted;
  for (int rank = 0; rank < workers; ++rank) {
    for (const nlohmann::json& line :
         JsonLines(run + "/node-" + std::to_string(rank) + "/metrics.jsonl")) {
      counted.push_back(
          {rank, line.at("round"), line.at("bytes_sent_total"), line.at("bytes_received_total")});
    }
  }
  return counted;
}

std::unique_ptr<Experiment> Build(const Flags& flags) {
  const absl::StatusOr<ResolvedConfig> resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

Ended RunCommand(const std::string& command, const Flags& flags, const std::string& out) {
  std::vector<std::string> arguments = {command, "--out=" + out};
  for (const auto& [field, value] : flags) {
    std::string flag = field;
    std::ranges::replace(flag, '_', '-');
    arguments.push_back("--" + flag + "=" + value);
  }
  return RunGrapevine(std::move(arguments));
}

Ended Train(const Flags& flags, const std::string& out) { return RunCommand("train", flags, out); }

// The models of all workers, and their average.
std::vector<std::string> ModelPaths(const std::string& run, int workers) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < workers; ++rank) {
    paths.push_back(run + "/node-" + std::to_string(rank) + "/model.safetensors");
  }
  paths.push_back(run + "/model.safetensors");
  return paths;
}

std::string Bytes(const std::string& path) {
  const std::string bytes = FileText(path);
  EXPECT_FALSE(bytes.empty()) << path;
  return bytes;
}

std::vector<std::string> Models(const std::string& run, int workers) {
  std::vector<std::string> models;
  for (const std::string& path : ModelPaths(run, workers)) models.push_back(Bytes(path));
  return models;
}

class RunParity : public ::testing::TestWithParam<Method> {};

TEST_P(RunParity, TwoRunsOfOneSeedGiveTheSameFiles) {
  const ScratchFolder folder;
  const int workers = GetParam().workers();
  const Flags flags = SmallExperiment(GetParam());
  for (const char* run : {"a", "b"}) {
    const Ended ended = Train(flags, folder.File(run));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
  }
  EXPECT_TRUE(Models(folder.File("a"), workers) == Models(folder.File("b"), workers));

  Flags other = flags;
  other["seed"] = "2";
  ASSERT_EQ(Train(other, folder.File("c")).exit_code, 0);
  const std::vector<std::string> a = Models(folder.File("a"), workers);
  const std::vector<std::string> c = Models(folder.File("c"), workers);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NE(a[i], c[i]) << "model " << i;
}

INSTANTIATE_TEST_SUITE_P(Methods, RunParity,
                         ::testing::Values(Method{"dpsgd", "ring"},
                                           Method{"ps:servers=2", "ring", 5, 2}));

class TransportParity : public ::testing::TestWithParam<Method> {};

TEST_P(TransportParity, GrpcAndMemoryGiveTheSameBits) {
  const ScratchFolder folder;
  const Flags flags = SmallExperiment(GetParam());
  const Ended ended = Train(flags, folder.File("run"));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;

  const std::unique_ptr<Experiment> experiment = Build(flags);
  const absl::StatusOr<int64_t> payload = TrainInMemory(*experiment, folder.File("memory"));
  ASSERT_TRUE(payload.ok()) << payload.status();
  const Payload expected = ExpectedPayload(*experiment, GetParam()).back();
  EXPECT_EQ(*payload, expected.training + expected.evaluation);

  const int workers = GetParam().workers();
  const std::vector<std::string> over_grpc = Models(folder.File("run"), workers);
  const std::vector<std::string> in_memory = Models(folder.File("memory"), workers);
  for (size_t i = 0; i < over_grpc.size(); ++i) {
    EXPECT_TRUE(in_memory[i] == over_grpc[i]) << ModelPaths("", workers)[i] << " differs";
  }
}

class SimulatorParity : public ::testing::TestWithParam<Method> {};

// Whatever the simulated network does to the order of events.
TEST_P(SimulatorParity, NodesAndSimulatorWriteTheSameModelsAndBytes) {
  const ScratchFolder folder;
  Flags flags = SmallExperiment(GetParam());
  const Ended real = Train(flags, folder.File("real"));
  ASSERT_EQ(real.exit_code, 0) << real.output;
  flags["bandwidth"] = "20Mbit";
  flags["latency"] = "7ms";
  flags["straggler"] = "rank=1:factor=2.5";
  flags["compute"] = "exponential:mean=5ms";
  const Ended simulated = RunCommand("sim", flags, folder.File("simulated"));
  ASSERT_EQ(simulated.exit_code, 0) << simulated.output;

  const std::vector<std::string> expected = Models(folder.File("real"), GetParam().workers());
  const std::vector<std::string> actual = Models(folder.File("simulated"), GetParam().workers());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(actual[i] == expected[i]) << ModelPaths("", GetParam().workers())[i] << " differs";
  }
  const std::unique_ptr<Experiment> experiment = Build(flags);
  const std::vector<Payload> payload = ExpectedPayload(*experiment, GetParam());
  for (const char* run : {"real", "simulated"}) {
    ExpectPayload(folder.File(run), *experiment, payload);
  }
  EXPECT_EQ(NodePayload(folder.File("simulated"), GetParam().workers()),
            NodePayload(folder.File("real"), GetParam().workers()));
}

INSTANTIATE_TEST_SUITE_P(
    Methods, SimulatorParity,
    ::testing::Values(
        Method{"dpsgd", "ring"}, Method{"dpsgd", "one-peer-exponential", 4},
        Method{"dpsgd", "random-matching", 4}, Method{"dpsgd:order=atc", "torus:2x3", 6},
        Method{"dpsgd:clip=0.05", "torus:2x3", 6}, Method{"allreduce", "ring"},
        Method{"allreduce:buckets=4", "ring", 4}, Method{"allreduce:halving-doubling", "ring", 5},
        Method{"allreduce:tree", "ring", 5}, Method{"allreduce:recursive-doubling", "ring", 6},
        Method{"allreduce:double-tree", "ring", 5},
        Method{"allreduce:hierarchical:groups=2", "ring", 4},
        Method{"allreduce:torus:2x2", "ring", 4}, Method{"ps:servers=2", "ring", 5, 2}));

INSTANTIATE_TEST_SUITE_P(WeightedGraphs, SimulatorParity,
                         ::testing::ValuesIn(OnWeightedGraphs("dpsgd")));

INSTANTIATE_TEST_SUITE_P(PushSum, SimulatorParity, ::testing::ValuesIn(PushSum()));
INSTANTIATE_TEST_SUITE_P(PushSum, TransportParity, ::testing::ValuesIn(PushSum()));

const Method kLocalMethods[] = {
    {.algorithm = "dpsgd:local=2", .topology = "one-peer-exponential", .nodes = 4, .every = 2},
    {.algorithm = "dpsgd:order=atc:local=3", .topology = "ring", .every = 3},
    {.algorithm = "average:every=2", .topology = "ring", .every = 2},
    {.algorithm = "average:once:tree", .topology = "ring", .nodes = 5, .every = kRounds},
    {.algorithm = "slowmo:every=2:halving-doubling", .topology = "ring", .nodes = 4, .every = 2},
    {.algorithm = "diloco:every=3:double-tree", .topology = "ring", .every = 3},
    {.algorithm = "noloco:every=2", .topology = "random-matching", .nodes = 4, .every = 2},
    {.algorithm = "easgd:every=2", .topology = "ring", .every = 2}};

INSTANTIATE_TEST_SUITE_P(LocalSteps, SimulatorParity, ::testing::ValuesIn(kLocalMethods));
INSTANTIATE_TEST_SUITE_P(LocalSteps, TransportParity, ::testing::ValuesIn(kLocalMethods));

INSTANTIATE_TEST_SUITE_P(
    Methods, TransportParity,
    ::testing::Values(Method{"dpsgd", "ring"}, Method{"dpsgd", "one-peer-exponential"},
                      Method{"dpsgd:order=atc", "ring"}, Method{"allreduce", "ring"},
                      Method{"allreduce:buckets=4", "ring"},
                      Method{"allreduce:halving-doubling", "ring"},
                      Method{"allreduce:tree:buckets=2", "ring"},
                      Method{"allreduce:recursive-doubling", "ring", 6},
                      Method{"allreduce:double-tree:buckets=2", "ring", 5},
                      Method{"allreduce:hierarchical:groups=2", "ring", 4},
                      Method{"allreduce:torus:2x2", "ring", 4}, Method{"ps", "ring", 4, 1},
                      Method{"ps:servers=2", "ring", 5, 2}));

}  // namespace
}  // namespace grapevine::testing
