// Runners give the bits of the shuffled cluster and of a loop over W, in host memory and on
// devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/algorithm/quadratics.h"
#include "tests/node/runner/fleet.h"
#include "tests/testing/dpsgd_loop.h"
#include "tests/testing/seeds.h"
#include "tests/testing/weighted_graphs.h"

namespace grapevine::testing {
namespace {

void ExpectTheBitsOfACluster(const FleetOptions& experiment) {
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
  static FleetOptions Parameters() {
    const auto [algorithm, topology, nodes, window] = GetParam();
    return {.algorithm = algorithm, .topology = topology, .nodes = nodes, .window = window};
  }
};

TEST_P(RunnerParity, ThreadsAndAShuffledQueueGiveTheSameBits) {
  ExpectTheBitsOfACluster(Parameters());
}

// Streams that do everything as late as they may: whatever forgot to wait shows.
TEST_P(RunnerParity, OnADeviceTheBitsAreTheSame) {
  FleetOptions experiment = Parameters();
  experiment.memory = FleetOptions::Memory::kEmulatedDevice;
  for (const uint64_t seed : Seeds(3)) {
    SCOPED_TRACE(seed);
    experiment.device.seed = 1000 * seed;
    ExpectTheBitsOfACluster(experiment);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RunnerParity,
    ::testing::Combine(::testing::Values("dpsgd", "dpsgd:order=atc", "dpsgd:clip=0.5", "allreduce"),
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
  static void ExpectReplicas(const FleetOptions& experiment, const Replicas& expected) {
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
  FleetOptions experiment{.topology = GetParam().topology,
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
      for (const auto memory :
           {FleetOptions::Memory::kHost, FleetOptions::Memory::kEmulatedDevice}) {
        experiment.memory = memory;
        SCOPED_TRACE(absl::StrCat(experiment.algorithm, ", window ", window,
                                  memory == FleetOptions::Memory::kHost ? "" : ", on a device"));
        ExpectReplicas(experiment, expected);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Graphs, RunnerOnWeightedGraphs, ::testing::ValuesIn(WeightedGraphs()),
                         [](const auto& info) { return info.param.name; });

TEST(RunnerOnAGpu, TheBitsAreTheSame) {
  if (const auto gpus = FindGpus(); !gpus.ok()) {
    GTEST_SKIP() << "a GPU is missing: " << gpus.status().message();
  }
  for (const char* algorithm : {"dpsgd", "dpsgd:order=atc", "allreduce", "ps"}) {
    for (const char* topology : {"ring", "one-peer-exponential"}) {
      SCOPED_TRACE(std::string(algorithm) + " on " + topology);
      ExpectTheBitsOfACluster({.algorithm = algorithm,
                               .topology = topology,
                               .nodes = 4,
                               .window = 2,
                               .memory = FleetOptions::Memory::kGpu});
    }
  }
}

}  // namespace
}  // namespace grapevine::testing
