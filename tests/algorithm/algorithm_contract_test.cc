// What every algorithm owes its driver, over graphs, sizes and orders of events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "random/keyed_random.h"
#include "tests/algorithm/allreduce_kinds.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/registered_specs.h"
#include "tests/testing/seeds.h"
#include "topology/topology.h"

namespace grapevine::testing {
namespace {

constexpr Round kRounds = 12;
constexpr uint64_t kStopSeed = 3;
constexpr RunLength kLength{.rounds = kRounds, .rounds_per_epoch = 2.5};
constexpr int64_t kParameters = 37;
constexpr int64_t kBuffers = 6;
constexpr int64_t kElements = kParameters + kBuffers;
// Vectors, some of them smaller than replicas: replica, optimizer's state, and up to three that an
// algorithm keeps.
constexpr int64_t kMaxAtRest = 5;

using Param = std::tuple<std::string, std::string, Rank>;

class AlgorithmContract : public ::testing::TestWithParam<Param> {
 protected:
  ClusterOptions Options() const {
    const auto& [algorithm, topology, nodes] = GetParam();
    return {.algorithm = algorithm,
            .topology = topology,
            .nodes = nodes,
            .parameters = kParameters,
            .buffers = kBuffers,
            .learning_rate = 0.1,
            .momentum = 0.9,
            .length = kLength,
            .gradient = Quadratic(1, 1, 11)};
  }

  // A key for the draws of this case.
  static int64_t CaseNumber() {
    const auto& [algorithm, topology, nodes] = GetParam();
    int64_t number = nodes;
    for (const char c : algorithm + topology) number = (31 * number + c) % 1'000'003;
    return number;
  }

  static std::vector<std::vector<float>> Replicas(const Cluster& cluster, Rank nodes) {
    std::vector<std::vector<float>> replicas;
    for (Rank rank = 0; rank < nodes; ++rank) {
      replicas.emplace_back(cluster.replica(rank).begin(), cluster.replica(rank).end());
    }
    return replicas;
  }

  std::vector<std::vector<float>> Run(ClusterOptions options) const {
    Cluster cluster(options);
    const absl::Status status = cluster.Run(kRounds);
    EXPECT_TRUE(status.ok()) << status;
    return Replicas(cluster, options.nodes);
  }
};

// What holds of those that go through rounds together: of the others, the order of events is
// the result, and fast nodes may do more steps.
class SynchronousContract : public AlgorithmContract {};

TEST_P(SynchronousContract, TheOrderOfEventsChangesNoBit) {
  const auto expected = Run(Options());
  for (const uint64_t seed : Seeds(4)) {
    ClusterOptions options = Options();
    options.order_seed = seed;
    EXPECT_EQ(Run(options), expected) << "order seed " << seed;
  }
}

class WindowContract : public SynchronousContract {};

TEST_P(WindowContract, TheWindowChangesNoBit) {
  const auto expected = Run(Options());
  for (const int window : {2, 3, 7}) {
    ClusterOptions options = Options();
    options.window = window;
    EXPECT_EQ(Run(options), expected) << "window " << window;
  }
}

TEST_P(SynchronousContract, AMovedLimitChangesNoBit) {
  Cluster cluster(Options());
  for (const Round limit : {0, 1, 5, 5, 12}) ASSERT_TRUE(cluster.Run(limit).ok()) << limit;
  EXPECT_EQ(Replicas(cluster, Options().nodes), Run(Options()));
}

// What a boundary keeps is all there is: nodes that are made anew from it go on with the same bits.
TEST_P(SynchronousContract, AResumedRunHasTheBitsOfOneThatNeverStopped) {
  KeyedRandom random(kStopSeed, Purpose::kShuffle, CaseNumber());
  ClusterOptions whole = Options();
  if (random.Below(2) == 1) whole.optimizer = "adam";
  whole.window = 1 + static_cast<int>(random.Below(3));
  whole.order_seed = random.Below(1000);
  whole.save_at = 1 + static_cast<Round>(random.Below(kRounds));
  SCOPED_TRACE(::testing::Message()
               << "stop seed " << kStopSeed << ": " << whole.optimizer << ", window "
               << whole.window << ", order seed " << whole.order_seed << ", stopped after round "
               << whole.save_at);
  Cluster never_stopped(whole);
  ASSERT_TRUE(never_stopped.Run(kRounds).ok());

  // Twice in a row: what was restored and not used yet is saved a second time.
  ClusterOptions rest = whole;
  rest.resume = never_stopped.saved();
  for (const Round begin : {whole.save_at, whole.save_at + 1}) {
    if (begin > kRounds) continue;
    rest.begin = begin;
    rest.save_at = begin + 1;
    rest.order_seed = random.Below(1000);
    Cluster resumed(rest);
    const absl::Status status = resumed.Run(kRounds);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Replicas(resumed, rest.nodes), Replicas(never_stopped, whole.nodes));
    if (rest.save_at <= kRounds) rest.resume = resumed.saved();
  }
}

// Nodes that begin late from one replica count optimizer's steps, tags and exchanges from there.
TEST_P(SynchronousContract, NodesMayBeginInAnyRound) {
  for (const Round begin : {5, 12}) {
    ClusterOptions options = Options();
    options.begin = begin;
    options.optimizer = "adam";
    Cluster cluster(options);
    const absl::Status status = cluster.Run(kRounds);
    ASSERT_TRUE(status.ok()) << status << ", begun in round " << begin;
    if (begin < kRounds) continue;
    for (const std::vector<float>& replica : Replicas(cluster, options.nodes)) {
      EXPECT_THAT(replica, ::testing::Each(0.0f)) << "nobody has stepped";
    }
  }
}

TEST_P(SynchronousContract, EveryNodeGoesThroughEveryBoundaryOnce) {
  ClusterOptions options = Options();
  std::vector<std::vector<Round>> boundaries(options.nodes);
  options.at_boundary = [&](Rank rank, Round completed, std::span<const float>) {
    boundaries[rank].push_back(completed);
  };
  Run(options);
  for (const auto& seen : boundaries) {
    ASSERT_EQ(seen.size(), static_cast<size_t>(kRounds));
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(seen.back(), kRounds);
  }
}

TEST_P(AlgorithmContract, EveryNodeRestsAtTheLimitInAnyOrderOfEvents) {
  for (const uint64_t seed : Seeds(19)) {
    ClusterOptions options = Options();
    options.order_seed = seed;
    std::vector<Round> last(options.nodes);
    options.at_boundary = [&](Rank rank, Round completed, std::span<const float>) {
      EXPECT_EQ(completed, last[rank] + 1) << "rank " << rank << ", order seed " << seed;
      last[rank] = completed;
    };
    Cluster cluster(options);
    for (const Round limit : {0, 3, 3, 20}) {
      const absl::Status status = cluster.Run(limit);
      ASSERT_TRUE(status.ok()) << status << ", order seed " << seed;
    }
  }
}

TEST_P(AlgorithmContract, MemoryStaysWithinItsBound) {
  const ClusterOptions options = Options();
  const auto topology = *MakeTopology(options.topology, options.nodes, options.seed);
  // The momentum is one vector.
  const auto elements = LargestMemory(options.algorithm, *topology, kElements, 1);
  ASSERT_TRUE(elements.ok()) << elements.status();
  const auto bytes = *elements * static_cast<int64_t>(sizeof(float));
  const int64_t vectors = std::max(kMaxAtRest, *elements / kElements);
  for (const uint64_t seed : Seeds(19)) {
    ClusterOptions shuffled = options;
    shuffled.order_seed = seed;
    Cluster cluster(shuffled);
    // More rounds than vectors: one that a round forgets shows.
    ASSERT_TRUE(cluster.Run(kRounds + vectors).ok());
    for (Rank rank = 0; rank < options.nodes; ++rank) {
      EXPECT_LE(cluster.vector_bytes(rank), bytes) << "order seed " << seed;
      EXPECT_LE(static_cast<int64_t>(cluster.live_vectors(rank)), vectors) << "order seed " << seed;
    }
  }
}

// More nodes show nothing new of an algorithm that knows its neighbours alone.
constexpr Rank kMaxGossiping = 8;

// Every registered algorithm in all that it can be: gossip on graphs of every kind, the
// others, to which graphs mean nothing, on a ring; each with as few nodes as it can have.
// `synchronous`: without those that are not.
std::vector<Param> EveryAlgorithm(const std::vector<std::string>& graphs,
                                  const std::vector<Rank>& sizes, bool synchronous = true) {
  std::vector<Param> all;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    for (const std::string& spec : ExamplesOf(*kind)) {
      if (synchronous && !HasRounds(spec)) continue;
      for (const std::string& graph : graphs) {
        for (const Rank size : sizes) {
          if (kind->centralized ? graph != "ring" : size > kMaxGossiping) continue;
          const auto topology = *MakeTopology(graph, size, 1);
          if (kind->undirected && topology->directed()) continue;
          if (!HasRounds(spec) && topology->period() != 1) continue;
          if (WorkerCount(spec, size).ok()) all.emplace_back(spec, graph, size);
        }
      }
    }
  }
  return all;
}

std::string TestName(const ::testing::TestParamInfo<Param>& info) {
  const auto& [algorithm, topology, nodes] = info.param;
  return KindName(algorithm + "_on_" + topology + "_of_" + std::to_string(nodes));
}

const std::vector<std::string> kGraphs = {
    "ring", "star", "complete", "exponential", "one-peer-exponential", "random-matching"};
const std::vector<Rank> kSizes = {1, 2, 3, 5, 8, 12};

INSTANTIATE_TEST_SUITE_P(Registered, AlgorithmContract,
                         ::testing::ValuesIn(EveryAlgorithm(kGraphs, kSizes, false)), TestName);

INSTANTIATE_TEST_SUITE_P(Registered, SynchronousContract,
                         ::testing::ValuesIn(EveryAlgorithm(kGraphs, kSizes)), TestName);

INSTANTIATE_TEST_SUITE_P(Registered, WindowContract,
                         ::testing::ValuesIn(EveryAlgorithm(
                             {"ring", "path", "one-peer-exponential", "random-matching"}, {3, 8})),
                         TestName);

TEST(Algorithms, SayOfThemselvesWhatOthersNeed) {
  for (const AlgorithmKind* kind : Algorithms().All()) {
    EXPECT_TRUE(kind->make) << kind->name;
    EXPECT_FALSE(kind->examples.empty()) << kind->name << " is under no contract";
    for (const std::string& spec : ExamplesOf(*kind)) {
      EXPECT_EQ(ParseSpec(spec)->name, kind->name);
      EXPECT_EQ(IsCentralized(spec), kind->centralized);
    }
    for (const Rank nodes : {1, 2, 3, 8, 64}) {
      for (const std::string& spec : kind->advised ? kind->advised(nodes) : kind->examples) {
        EXPECT_EQ(ParseSpec(spec)->name, kind->name) << spec;
      }
    }
  }
}

TEST(AllreduceSgd, EveryKindTrainsAsTheRingDoes) {
  for (const Rank nodes : {3, 8, 12}) {
    const auto trained_by = [nodes](const std::string& kind) {
      Cluster cluster({.algorithm = kind,
                       .nodes = nodes,
                       .parameters = 100,
                       .buffers = 7,
                       .learning_rate = 0.1,
                       .momentum = 0.9,
                       .gradient = Quadratic(1, 1, 2)});
      EXPECT_TRUE(cluster.Run(50).ok());
      const std::span<const float> trained = cluster.replica(nodes - 1);
      return std::vector<float>(trained.begin(), trained.end());
    };
    const std::vector<float> ring = trained_by("allreduce:ring");
    for (const std::string& kind : AllreduceKinds()) {
      EXPECT_THAT(trained_by(kind), ::testing::Pointwise(::testing::FloatNear(1e-6f), ring))
          << kind << " of " << nodes;
    }
  }
}

TEST(AllreduceSgd, AllRanksEndBitIdenticalAlsoWithMoreRanksThanElements) {
  for (const int64_t parameters : {3, 64, 1000}) {
    Cluster cluster({.algorithm = "allreduce",
                     .nodes = 6,
                     .parameters = parameters,
                     .learning_rate = 0.1,
                     .momentum = 0.9,
                     .gradient = Quadratic(1, 1, 2)});
    ASSERT_TRUE(cluster.Run(kRounds).ok());
    const std::vector<float> first(cluster.replica(0).begin(), cluster.replica(0).end());
    for (Rank rank = 1; rank < 6; ++rank) {
      EXPECT_TRUE(std::ranges::equal(cluster.replica(rank), first)) << parameters;
    }
  }
}

TEST(Bytes, ARoundCostsWhatTheAlgorithmPromises) {
  constexpr Rank kNodes = 6;
  constexpr int64_t kElements = 60;
  const auto bytes = [](const char* algorithm, const char* topology) {
    Cluster cluster({.algorithm = algorithm,
                     .topology = topology,
                     .nodes = kNodes,
                     .parameters = kElements,
                     .gradient = Quadratic(1, 0, 1)});
    EXPECT_TRUE(cluster.Run(kRounds).ok());
    return cluster.bytes_sent(0) / kRounds;
  };
  EXPECT_EQ(bytes("dpsgd", "ring"), 2 * kElements * 4);
  EXPECT_EQ(bytes("dpsgd", "one-peer-exponential"), kElements * 4);
  EXPECT_EQ(bytes("dpsgd:local=4", "ring"), 2 * kElements * 4 / 4);
  EXPECT_EQ(bytes("average:every=4", "ring"), 2 * (kNodes - 1) * kElements * 4 / kNodes / 4);
  EXPECT_EQ(bytes("easgd:every=4", "ring"), 2 * (kNodes - 1) * kElements * 4 / kNodes / 4);
  EXPECT_EQ(bytes("noloco:every=4", "one-peer-exponential"), kElements * 4 / 4);
  EXPECT_EQ(bytes("allreduce", "ring"), 2 * (kNodes - 1) * kElements * 4 / kNodes);
}

TEST(MessagesPerRound, AreThoseThatAreSent) {
  for (const auto& [algorithm, topology, nodes] :
       EveryAlgorithm({"ring", "star", "one-peer-exponential"}, {3, 5, 8, 12})) {
    int64_t sent = 0;
    Cluster cluster({.algorithm = algorithm,
                     .topology = topology,
                     .nodes = nodes,
                     .parameters = 1000,
                     .length = kLength,
                     .gradient = Quadratic(1, 0, 1),
                     .transcript = [&](Rank, const std::string& what) {
                       sent += what.starts_with("sends ") ? 1 : 0;
                     }});
    ASSERT_TRUE(cluster.Run(kRounds).ok());
    const auto messages = MessagesPerRound(algorithm, **MakeTopology(topology, nodes, 1), kLength);
    ASSERT_TRUE(messages.ok()) << messages.status();
    EXPECT_DOUBLE_EQ(*messages * kRounds, static_cast<double>(sent))
        << algorithm << " on " << topology << " of " << nodes;
  }
  const auto ring = MessagesPerRound("allreduce", **MakeTopology("ring", 1000, 1), kLength);
  EXPECT_EQ(*ring, 1000 * 2 * 999);
}

TEST(Lead, NoNeighbourIsEverMoreThanOneRoundAhead) {
  Cluster cluster({.nodes = 8, .parameters = 2, .window = 2, .gradient = Quadratic(1, 0, 1)});
  ASSERT_TRUE(cluster.Run(200).ok());
  EXPECT_EQ(cluster.largest_lead(), 1);
}

TEST(Registry, UnknownAlgorithmsAndOptionsAreRefusedByName) {
  auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 4, 1));
  const auto error = [&](const char* spec) {
    return std::string(MakeAlgorithm(spec, {.mixing = mixing}).status().message());
  };
  EXPECT_THAT(error("gossip"),
              ::testing::MatchesRegex("gossip: unknown algorithm 'gossip'; known: "
                                      "adag.*, adpsgd.:every=H., allreduce.:KIND..:buckets=B., "
                                      "average.*, dpsgd.:order=atc..:local=H..:clip=TAU., .*"));
  EXPECT_THAT(error("dpsdg:order=atc"), ::testing::HasSubstr("did you mean dpsgd?"));
  EXPECT_THAT(error("allreduce:bush"), ::testing::HasSubstr("unknown allreduce 'bush'"));
  EXPECT_THAT(error("allreduce:tree:groups=2"), ::testing::HasSubstr("unknown option 'groups'"));
  EXPECT_THAT(error("allreduce:hierarchical:groups=3"), ::testing::HasSubstr("groups=2"));
  EXPECT_THAT(error("dpsgd:order=sideways"), ::testing::HasSubstr("awc"));
  EXPECT_THAT(error("dpsgd:speed=3"), ::testing::HasSubstr("order"));
}

}  // namespace
}  // namespace grapevine::testing
