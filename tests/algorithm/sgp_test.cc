// Push-sum gossip: against a loop in double precision over x and w as the paper states them,
// the sums that it keeps, and what it does where plain averaging fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "algorithm/local/local_sgd.h"
#include "random/keyed_random.h"
#include "tests/algorithm/idle_host.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"
#include "tests/testing/weighted_graphs.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kSgpParameters = 11;

// Writes a directed graph; returns its spec.
std::string GraphFile(const std::string& name, const std::vector<std::pair<Rank, Rank>>& edges) {
  const std::string path = ::testing::TempDir() + "/" + name + ".edges";
  std::ofstream file(path);
  for (const auto& [from, to] : edges) file << from << " -> " << to << "\n";
  return "file:" + path;
}

// Out-degrees 2, 1, 1 and in-degrees 1, 1, 2.
std::string Uneven() { return GraphFile("uneven", {{0, 1}, {0, 2}, {1, 2}, {2, 0}}); }

// Strongly connected: a cycle in a drawn order, and some more edges.
std::string DrawnGraph(uint64_t seed, Rank n) {
  KeyedRandom random(seed, Purpose::kShuffle, n);
  std::vector<Rank> cycle(n);
  for (Rank rank = 0; rank < n; ++rank) cycle[rank] = rank;
  for (Rank rank = n - 1; rank > 0; --rank) std::swap(cycle[rank], cycle[random.Below(rank + 1)]);
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank i = 0; i < n; ++i) edges.emplace_back(cycle[i], cycle[(i + 1) % n]);
  for (Rank i = 0; i < n; ++i) {
    const Rank from = random.Below(n), to = random.Below(n);
    if (from != to) edges.emplace_back(from, to);
  }
  return GraphFile("drawn" + std::to_string(seed), edges);
}

// P of a round: what a node gives to each that it sends to, and keeps, is equal.
Matrix OutDegreeWeights(const Topology& topology, Round round) {
  Matrix p(topology.size(), std::vector<double>(topology.size()));
  std::vector<Rank> out;
  for (Rank j = 0; j < topology.size(); ++j) {
    topology.OutNeighbours(j, round, &out);
    const double share = 1.0 / (1.0 + static_cast<double>(out.size()));
    p[j][j] = share;
    for (const Rank i : out) p[i][j] = share;
  }
  return p;
}

struct State {
  std::vector<double> w;
  Matrix x;  // by rank, then element
};

// Algorithm 1 for f_i(z) = |z - b_i|^2 / 2, on x and w. What is sent in a round arrives `overlap`
// rounds later; before the run, what would arrive in the first rounds was.
class SgpLoop {
 public:
  SgpLoop(std::shared_ptr<const Topology> topology, Round overlap, double rate, double momentum,
          const Matrix& start)
      : topology_(std::move(topology)),
        overlap_(overlap),
        rate_(rate),
        momentum_(momentum),
        state_{std::vector<double>(start.size()), start},
        velocity_(start.size(), std::vector<double>(start[0].size())) {
    for (size_t j = 0; j < start.size(); ++j) {
      double shares = 1;
      for (Round round = 0; round < overlap; ++round) {
        shares += 1 - OutDegreeWeights(*topology_, round)[j][j];
      }
      state_.w[j] = 1 / shares;
      for (double& x : state_.x[j]) x *= state_.w[j];
    }
    for (Round round = 0; round < overlap; ++round) {
      flying_[round] = Flying(OutDegreeWeights(*topology_, round), state_);
    }
  }

  void Step() {
    const size_t n = state_.w.size();
    for (size_t i = 0; i < n; ++i) {
      for (size_t e = 0; e < state_.x[i].size(); ++e) {
        const double gradient = state_.x[i][e] / state_.w[i] - UnlikeOptimum(i);
        velocity_[i][e] = momentum_ * velocity_[i][e] + gradient;
        state_.x[i][e] -= rate_ * velocity_[i][e];
      }
    }
    const Matrix p = OutDegreeWeights(*topology_, round_);
    flying_[round_ + overlap_] = Flying(p, state_);
    for (size_t i = 0; i < n; ++i) {
      state_.w[i] *= p[i][i];
      for (double& x : state_.x[i]) x *= p[i][i];
    }
    const State arriving = flying_.extract(round_).mapped();
    for (size_t i = 0; i < n; ++i) {
      state_.w[i] += arriving.w[i];
      for (size_t e = 0; e < state_.x[i].size(); ++e) state_.x[i][e] += arriving.x[i][e];
    }
    ++round_;
  }

  double z(Rank rank, int64_t e) const { return state_.x[rank][e] / state_.w[rank]; }
  double w(Rank rank) const { return state_.w[rank]; }

 private:
  // What reaches each node from others.
  static State Flying(const Matrix& p, const State& sent) {
    const size_t n = sent.w.size(), elements = sent.x[0].size();
    State flying{std::vector<double>(n), Matrix(n, std::vector<double>(elements))};
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        if (i == j) continue;
        flying.w[i] += p[i][j] * sent.w[j];
        for (size_t e = 0; e < elements; ++e) flying.x[i][e] += p[i][j] * sent.x[j][e];
      }
    }
    return flying;
  }

  const std::shared_ptr<const Topology> topology_;
  const Round overlap_;
  const double rate_, momentum_;
  State state_;
  Matrix velocity_;
  std::map<Round, State> flying_;
  Round round_ = 0;
};

double WeightOf(const Cluster& cluster, Rank rank) {
  return dynamic_cast<const LocalSgd&>(cluster.algorithm(rank)).weight();
}

std::string Spec(Round overlap) { return "sgp:overlap=" + std::to_string(overlap); }

struct SgpCase {
  std::string topology;
  Rank nodes;
};

class SgpOracle : public ::testing::TestWithParam<SgpCase> {};

TEST_P(SgpOracle, IsALoopOverXAndW) {
  constexpr Round kRounds = 30;
  const auto& [topology, nodes] = GetParam();
  for (const Round overlap : {0, 1, 3}) {
    // With an overlap, what was in flight before the run was the common start.
    const auto start = [&](Rank rank, std::span<float> x) {
      RandomStart(overlap == 0 ? rank : 0, x);
    };
    Matrix starts;
    for (Rank rank = 0; rank < nodes; ++rank) {
      std::vector<float> x(kSgpParameters);
      start(rank, x);
      starts.emplace_back(x.begin(), x.end());
    }
    SgpLoop loop(*MakeTopology(topology, nodes, 1), overlap, 0.05, 0.5, starts);
    for (Round round = 0; round < kRounds; ++round) loop.Step();
    for (const int window : {1, 3}) {
      Cluster cluster({.algorithm = Spec(overlap),
                       .topology = topology,
                       .mixing = "out-degree",
                       .nodes = nodes,
                       .parameters = kSgpParameters,
                       .learning_rate = 0.05,
                       .momentum = 0.5,
                       .window = window,
                       .order_seed = static_cast<uint64_t>(window),
                       .initial = start,
                       .gradient = Quadratic(1, 0, 1, UnlikeOptimum)});
      const absl::Status status = cluster.Run(kRounds);
      ASSERT_TRUE(status.ok()) << status;
      for (Rank rank = 0; rank < nodes; ++rank) {
        SCOPED_TRACE(::testing::Message() << "overlap " << overlap << ", rank " << rank);
        EXPECT_NEAR(WeightOf(cluster, rank), loop.w(rank), 1e-12);
        for (int64_t e = 0; e < kSgpParameters; ++e) {
          EXPECT_NEAR(cluster.replica(rank)[e], loop.z(rank, e), 5e-6);
        }
      }
    }
  }
}

std::vector<SgpCase> Graphs() {
  std::vector<SgpCase> cases = {{Uneven(), 3}, {DrawnGraph(3, 8), 8}};
  for (const char* topology : {"star", "exponential", "one-peer-exponential", "random-matching"}) {
    for (const Rank nodes : {1, 2, 3, 5, 8}) cases.push_back({topology, nodes});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Graphs, SgpOracle, ::testing::ValuesIn(Graphs()));

// (n, seed) of drawn directed graphs.
class SgpSums : public ::testing::TestWithParam<std::tuple<Rank, uint64_t>> {
 protected:
  static constexpr double kRate = 0.1;

  // Adds what a node holds, and what of it is on its way after `round`, to the sums.
  void Add(double weight, double z) { weights_ += weight, values_ += weight * z; }

  double weights_ = 0, values_ = 0;
};

// With gradients that do not depend on z, the sum of x is known: that of the start, less those of
// the gradients.
TEST_P(SgpSums, AreKept) {
  const auto& [nodes, seed] = GetParam();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  const std::string topology = DrawnGraph(seed, nodes);
  const auto graph = *MakeTopology(topology, nodes, seed);
  const Matrix p = OutDegreeWeights(*graph, 0);
  const Round overlap = static_cast<Round>(seed % 4);
  const Round rounds = 10 + static_cast<Round>(seed % 17);
  const auto draw = [seed = seed](Rank rank, Round round) {
    return 2 * KeyedRandom(seed, Purpose::kGradientNoise, rank, round).Unit() - 1;
  };
  // By completed rounds, then rank.
  Matrix weight(rounds + 1, std::vector<double>(nodes)), z = weight;
  const Cluster* watched = nullptr;
  Cluster cluster({.algorithm = Spec(overlap),
                   .topology = topology,
                   .mixing = "out-degree",
                   .nodes = nodes,
                   .learning_rate = kRate,
                   .order_seed = seed,
                   .initial = [](Rank, std::span<float> x) { x[0] = 0.5; },
                   .gradient =
                       [&](Rank rank, Round round, std::span<const float> x, std::span<float> g) {
                         z[round][rank] = x[0];
                         weight[round][rank] = WeightOf(*watched, rank);
                         g[0] = static_cast<float>(draw(rank, round));
                       }});
  watched = &cluster;
  ASSERT_TRUE(cluster.Run(rounds).ok());
  for (Rank rank = 0; rank < nodes; ++rank) {
    z[rounds][rank] = cluster.replica(rank)[0];
    weight[rounds][rank] = WeightOf(cluster, rank);
  }
  for (Round completed = overlap; completed <= rounds; ++completed) {
    weights_ = values_ = 0;
    double expected = 0.5 * nodes;
    for (Rank rank = 0; rank < nodes; ++rank) {
      const double held = weight[completed][rank];
      EXPECT_GT(held, 0);
      EXPECT_LE(held, nodes);
      Add(held, z[completed][rank]);
      for (Round sent = completed - overlap; sent < completed; ++sent) {
        const double w = weight[sent][rank];
        const double y = z[sent][rank] - kRate / w * draw(rank, sent);
        Add((1 - p[rank][rank]) * w, y);
      }
      for (Round round = 0; round < completed; ++round) expected -= kRate * draw(rank, round);
    }
    EXPECT_NEAR(weights_, nodes, 1e-12) << "after " << completed << " rounds";
    EXPECT_NEAR(values_, expected, 2e-6 * nodes) << "after " << completed << " rounds";
  }
}

INSTANTIATE_TEST_SUITE_P(Drawn, SgpSums,
                         ::testing::Combine(::testing::Values(2, 3, 5, 8),
                                            ::testing::Range<uint64_t>(1, 21)));

// All weights stay 1: the same steps, the same weights, so the same bits.
TEST(Sgp, IsDpsgdWhereWeightsAreDoublyStochastic) {
  std::vector<WeightedGraph> graphs = WeightedGraphs();
  for (const char* regular : {"ring", "exponential", "one-peer-exponential", "random-matching"}) {
    graphs.push_back({.name = regular, .topology = regular, .mixing = "metropolis", .w = nullptr});
  }
  for (const WeightedGraph& graph : graphs) {
    std::vector<std::vector<float>> ends;
    for (const char* algorithm : {"dpsgd:order=atc", "sgp"}) {
      Cluster cluster({.algorithm = algorithm,
                       .topology = graph.topology,
                       .mixing = graph.mixing,
                       .nodes = WeightedGraph::kNodes,
                       .parameters = kSgpParameters,
                       .buffers = 3,
                       .momentum = 0.9,
                       .initial = RandomStart,
                       .gradient = Quadratic(1, 1, 5, UnlikeOptimum)});
      ASSERT_TRUE(cluster.Run(100).ok());
      ends.emplace_back();
      for (Rank rank = 0; rank < WeightedGraph::kNodes; ++rank) {
        const auto replica = cluster.replica(rank);
        ends.back().insert(ends.back().end(), replica.begin(), replica.end());
      }
    }
    EXPECT_EQ(ends[0], ends[1]) << graph;
  }
}

// W_ij = 1/(1 + the in-degree of i): rows sum to 1, columns do not, whatever it says of itself.
class InDegree final : public Mixing {
 public:
  explicit InDegree(std::shared_ptr<const Topology> topology) : topology_(std::move(topology)) {}
  std::string name() const override { return "in-degree"; }
  const Topology& topology() const override { return *topology_; }
  void Row(Rank rank, Round round, MixingRow* row) const override {
    std::vector<Rank> in;
    topology_->InNeighbours(rank, round, &in);
    row->self = 1.0 / (1.0 + static_cast<double>(in.size()));
    row->in.clear();
    for (const Rank neighbour : in) row->in.push_back({neighbour, row->self});
  }

 private:
  const std::shared_ptr<const Topology> topology_;
};

const Registration kInDegree(Mixings(), {.name = "in-degree",
                                         .help = "rows sum to 1",
                                         .examples = {"in-degree"},
                                         .make = [](const grapevine::Spec&,
                                                    std::shared_ptr<const Topology> topology)
                                             -> absl::StatusOr<std::shared_ptr<const Mixing>> {
                                           return std::make_shared<InDegree>(std::move(topology));
                                         }});

double Optimum(Rank nodes) {
  double mean = 0;
  for (Rank rank = 0; rank < nodes; ++rank) mean += UnlikeOptimum(rank) / nodes;
  return mean;
}

// Where nothing moves any more the gradients sum to 0, and the mean of the models is that of the
// optima; averages by rows favour the optima of some.
TEST(Sgp, FindsTheMeanOptimumWhereAveragesByRowsAreBiased) {
  constexpr Rank kNodes = 3;
  const auto after = [&](const std::string& algorithm, const std::string& mixing) {
    Cluster cluster({.algorithm = algorithm,
                     .topology = Uneven(),
                     .mixing = mixing,
                     .nodes = kNodes,
                     .learning_rate = 0.01,
                     .gradient = Quadratic(1, 0, 1, UnlikeOptimum)});
    EXPECT_TRUE(cluster.Run(3000).ok());
    return cluster.Mean()[0];
  };
  EXPECT_NEAR(after("sgp", "out-degree"), Optimum(kNodes), 1e-4);
  EXPECT_NEAR(after("sgp:overlap=2", "out-degree"), Optimum(kNodes), 1e-4);
  EXPECT_GT(std::abs(after("dpsgd", "in-degree") - Optimum(kNodes)), 0.02);
  EXPECT_GT(std::abs(after("dpsgd:order=atc", "in-degree") - Optimum(kNodes)), 0.02);
}

// Averaging alone: every node ends at the mean of the starts, not at its own view of it.
TEST(Sgp, AveragesExactlyOnADirectedGraph) {
  for (const Rank nodes : {2, 3, 5, 8}) {
    Cluster cluster({.algorithm = "sgp",
                     .topology = DrawnGraph(9, nodes),
                     .mixing = "out-degree",
                     .nodes = nodes,
                     .parameters = kSgpParameters,
                     .learning_rate = 0,
                     .initial = RandomStart,
                     .gradient = Quadratic(1, 0, 1)});
    ASSERT_TRUE(cluster.Run(400).ok());
    for (int64_t e = 0; e < kSgpParameters; ++e) {
      double mean = 0;
      for (Rank rank = 0; rank < nodes; ++rank) {
        std::vector<float> start(kSgpParameters);
        RandomStart(rank, start);
        mean += start[e] / nodes;
      }
      for (Rank rank = 0; rank < nodes; ++rank) {
        EXPECT_NEAR(cluster.replica(rank)[e], mean, 2e-6) << "rank " << rank << " of " << nodes;
      }
    }
  }
}

TEST(Sgp, LearnsAsDpsgdDoesFromNoisyGradients) {
  const auto distance = [](const std::string& algorithm, const std::string& mixing) {
    constexpr Rank kNodes = 8;
    Cluster cluster({.algorithm = algorithm,
                     .topology = "one-peer-exponential",
                     .mixing = mixing,
                     .nodes = kNodes,
                     .parameters = 200,
                     .learning_rate = 0.05,
                     .momentum = 0.9,
                     .initial = [](Rank, std::span<float> x) { std::ranges::fill(x, 5.0f); },
                     .gradient = Quadratic(1, 1, 4, UnlikeOptimum)});
    EXPECT_TRUE(cluster.Run(300).ok());
    double sum = 0;
    for (const double x : cluster.Mean()) sum += (x - Optimum(kNodes)) * (x - Optimum(kNodes));
    return sum / 200;
  };
  const double dpsgd = distance("dpsgd:order=atc", "metropolis");
  EXPECT_LT(dpsgd, 0.2);
  for (const char* algorithm : {"sgp", "sgp:overlap=1", "sgp:overlap=2"}) {
    EXPECT_LT(distance(algorithm, "out-degree"), 2 * dpsgd) << algorithm;
  }
}

TEST(Sgp, KeepsItsMemoryBoundOnADirectedGraph) {
  const std::string topology = DrawnGraph(5, 8);
  for (const Round overlap : {0, 1, 3}) {
    const auto elements =
        LargestMemory(Spec(overlap), **MakeTopology(topology, 8, 1), kSgpParameters, 1);
    ASSERT_TRUE(elements.ok()) << elements.status();
    for (const uint64_t seed : Seeds(19)) {
      Cluster cluster({.algorithm = Spec(overlap),
                       .topology = topology,
                       .mixing = "out-degree",
                       .parameters = kSgpParameters,
                       .momentum = 0.9,
                       .order_seed = seed,
                       .gradient = Quadratic(1, 0, 1)});
      ASSERT_TRUE(cluster.Run(30).ok());
      for (Rank rank = 0; rank < 8; ++rank) {
        EXPECT_LE(cluster.vector_bytes(rank), *elements * 4) << "seed " << seed;
      }
    }
  }
}

TEST(Sgp, StopsAtAnyRound) {
  const auto run = [](const std::vector<Round>& limits) {
    Cluster cluster({.algorithm = "sgp:overlap=2",
                     .topology = Uneven(),
                     .mixing = "out-degree",
                     .nodes = 3,
                     .gradient = Quadratic(1, 1, 1)});
    for (const Round limit : limits) {
      const absl::Status status = cluster.Run(limit);
      EXPECT_TRUE(status.ok()) << status;
      for (Rank rank = 0; rank < 3; ++rank) {
        EXPECT_TRUE(cluster.resting(rank)) << "at " << limit;
        EXPECT_TRUE(cluster.algorithm(rank).waiting_for().empty()) << "at " << limit;
      }
    }
    return std::vector<float>{cluster.replica(0)[0], cluster.replica(1)[0], cluster.replica(2)[0]};
  };
  EXPECT_EQ(run({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), run({9}));
}

// A chain in which every node also sends back to the first: each has half of the one before.
TEST(Sgp, EndsWhereTheGraphStarvesANode) {
  constexpr Rank kNodes = 60;
  std::vector<std::pair<Rank, Rank>> edges;
  for (Rank rank = 1; rank < kNodes; ++rank) {
    edges.emplace_back(rank - 1, rank);
    edges.emplace_back(rank, 0);
  }
  const std::string topology = GraphFile("chain", edges);
  Cluster cluster({.algorithm = "sgp",
                   .topology = topology,
                   .mixing = "out-degree",
                   .nodes = kNodes,
                   .gradient = Quadratic(0, 0, 1)});
  const absl::Status status = cluster.Run(1000);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()),
              ::testing::MatchesRegex("sgp: in round [0-9]+ the push-sum weight of rank [0-9]+ has "
                                      "fallen to [0-9.e-]+: too little reaches it on file:.*chain"
                                      ".edges with out-degree; add edges to it, from nodes that "
                                      "send to few"));
}

TEST(Sgp, RefusesAWeightThatNoNodeCanHave) {
  const auto mixing = *MakeMixing("out-degree", *MakeTopology("star", 3, 1));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double weight : {0.0, -1.0, 3.1, 1e300, nan}) {
    IdleHost host(10);
    const auto sgp = *MakeAlgorithm(
        "sgp", {.rank = 0, .mixing = mixing, .learning_rate = [](Round) { return 0.1; }});
    ASSERT_TRUE(sgp->On(RoundLimit{5}, host).ok());
    ASSERT_TRUE(sgp->On(Start{}, host).ok());
    const absl::Status status = sgp->On(
        Received{.from = 2, .tag = {.index = 0}, .bytes = 40, .note = {.weight = weight}}, host);
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("the replica of rank 2 for round 0 has a push-sum weight of "));
  }
}

std::string Refusal(const std::string& algorithm, const std::string& mixing,
                    const std::string& topology) {
  const auto made = MakeMixing(mixing, *MakeTopology(topology, 3, 1));
  EXPECT_TRUE(made.ok()) << made.status();
  return std::string(MakeAlgorithm(algorithm, {.mixing = *made}).status().message());
}

TEST(Sgp, AloneTakesWeightsWhoseColumnsSumToOne) {
  EXPECT_EQ(Refusal("sgp:overlap=2", "out-degree", Uneven()), "");
  EXPECT_EQ(Refusal("dpsgd", "out-degree", "star"),
            "dpsgd: needs mixing weights whose rows and columns sum to 1; of out-degree on star "
            "only the columns do, and the mean of the replicas would be biased; take "
            "--mixing=metropolis or --algorithm=sgp");
  EXPECT_THAT(Refusal("dpsgd:order=atc", "lazy:out-degree", Uneven()),
              HasSubstr("would be biased; take --algorithm=sgp"));
  EXPECT_EQ(Refusal("dpsgd", "out-degree", "ring"), "");
}

TEST(Sgp, RefusesAnOverlapThatItDoesNotKnow) {
  EXPECT_THAT(Refusal("sgp:overlap=-1", "metropolis", "ring"), HasSubstr("overlap"));
  EXPECT_THAT(Refusal("sgp:overlap=65", "metropolis", "ring"), HasSubstr("64"));
  EXPECT_THAT(Refusal("sgp:delay=1", "metropolis", "ring"), HasSubstr("overlap"));
  EXPECT_FALSE(LargestMemory("sgp:overlap=x", **MakeTopology("ring", 3, 1), 1, 1).ok());
}

}  // namespace
}  // namespace grapevine::testing
