// The synchronous parameter server against allreduce SGD, which it must equal,
// and what each of its roles may cost.
#include "algorithm/server/parameter_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/server/shard_layout.h"
#include "base/spec.h"
#include "tests/algorithm/idle_host.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/seeds.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Round kRounds = 60;

std::string Servers(Rank servers) { return "ps:servers=" + std::to_string(servers); }

struct Problem {
  int64_t parameters;
  int64_t buffers;
};

// Workers learn the same whatever sums their gradients: `algorithm` may have
// servers beside them.
ClusterOptions Options(const std::string& algorithm, Rank nodes, Problem problem) {
  return {.algorithm = algorithm,
          .nodes = nodes,
          .parameters = problem.parameters,
          .buffers = problem.buffers,
          .learning_rate = 0.1,
          .momentum = 0.9,
          .initial = [](Rank, std::span<float> x) { RandomStart(0, x); },
          .gradient = Quadratic(1, 1, 11, [](Rank rank) { return 0.3 * rank; })};
}

std::vector<std::vector<float>> Models(const ClusterOptions& options, Rank workers) {
  Cluster cluster(options);
  const absl::Status status = cluster.Run(kRounds);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<std::vector<float>> models;
  for (Rank rank = 0; rank < workers; ++rank) {
    models.emplace_back(cluster.replica(rank).begin(), cluster.replica(rank).end());
  }
  return models;
}

// Sizes that no number of servers divides, and fewer elements than servers.
constexpr Problem kProblems[] = {{1, 0}, {2, 0}, {1, 1}, {37, 6}, {64, 0}, {1000, 23}};

class AgainstAllreduce : public ::testing::TestWithParam<std::tuple<Rank, Rank>> {};

TEST_P(AgainstAllreduce, LearnsTheSame) {
  const auto [servers, workers] = GetParam();
  for (const Problem& problem : kProblems) {
    SCOPED_TRACE(::testing::Message() << problem.parameters << " + " << problem.buffers);
    const auto expected = Models(Options("allreduce", workers, problem), workers);
    const auto models = Models(Options(Servers(servers), workers + servers, problem), workers);
    for (Rank rank = 0; rank < workers; ++rank) {
      EXPECT_EQ(models[rank], models[0]) << "all workers have the same bits";
      ASSERT_EQ(models[rank].size(), expected[rank].size());
      for (size_t i = 0; i < expected[rank].size(); ++i) {
        const double size = std::max(1.0, std::abs(double{expected[rank][i]}));
        ASSERT_NEAR(models[rank][i], expected[rank][i], 1e-6 * size) << "element " << i;
      }
    }
    // Which server an element lies on does not reach its bits.
    EXPECT_EQ(models, Models(Options(Servers(1), workers + 1, problem), workers));
  }
}

INSTANTIATE_TEST_SUITE_P(All, AgainstAllreduce,
                         ::testing::Combine(::testing::Values(1, 2, 3, 5),
                                            ::testing::Values(1, 2, 4, 7)));

class Costs : public ::testing::TestWithParam<std::tuple<Rank, Rank>> {
 protected:
  static constexpr int64_t kElements = 60;  // every number of servers here divides it
  static constexpr int64_t kBytes = kElements * sizeof(float);
  const Rank servers_ = std::get<0>(GetParam());
  const Rank workers_ = std::get<1>(GetParam());
};

TEST_P(Costs, AWorkerSendsAReplicaAndAServerItsShardToEachWorker) {
  Cluster cluster(Options(Servers(servers_), workers_ + servers_, {kElements, 0}));
  ASSERT_TRUE(cluster.Run(kRounds).ok());
  for (Rank rank = 0; rank < workers_ + servers_; ++rank) {
    EXPECT_EQ(cluster.bytes_sent(rank),
              kRounds * (rank < workers_ ? kBytes : workers_ * kBytes / servers_))
        << "rank " << rank;
  }
}

// A worker holds weights and gradient; a server, of the size of its shard, n gradients, old and new
// weights and the momentum.
TEST_P(Costs, MemoryIsBounded) {
  const auto ring = *MakeTopology("ring", workers_ + servers_, 1);
  const int64_t largest = std::max(2 * kBytes, (workers_ + 3) * kBytes / servers_);
  EXPECT_EQ(*LargestMemory(Servers(servers_), *ring, kElements, 1) * sizeof(float), largest);
  for (const uint64_t seed : Seeds(20)) {
    SCOPED_TRACE(::testing::Message() << "order seed " << seed);
    ClusterOptions options = Options(Servers(servers_), workers_ + servers_, {kElements, 0});
    options.order_seed = seed;
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Run(kRounds).ok());
    for (Rank rank = 0; rank < workers_; ++rank) {
      EXPECT_EQ(cluster.vector_bytes(rank), 2 * kBytes);
      EXPECT_EQ(cluster.live_vectors(rank), 1u) << "the weights";
    }
    for (Rank rank = workers_; rank < workers_ + servers_; ++rank) {
      EXPECT_EQ(cluster.vector_bytes(rank), (workers_ + 3) * kBytes / servers_);
      EXPECT_EQ(cluster.live_vectors(rank), 2u) << "the weights and the momentum";
    }
    EXPECT_LE(cluster.largest_lead(), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Costs,
                         ::testing::Combine(::testing::Values(1, 2, 3),
                                            ::testing::Values(1, 3, 6)));

TEST(Roles, ServersComputeNoGradientAndShowNoModel) {
  ClusterOptions options = Options("ps:servers=2", 5, {8, 0});
  std::set<Rank> computed, with_model, without_model;
  options.gradient = [&](Rank rank, Round, std::span<const float>, std::span<float>) {
    computed.insert(rank);
  };
  options.at_boundary = [&](Rank rank, Round, std::span<const float> model) {
    (model.empty() ? without_model : with_model).insert(rank);
  };
  Cluster cluster(options);
  ASSERT_TRUE(cluster.Run(3).ok());
  EXPECT_EQ(computed, (std::set<Rank>{0, 1, 2}));
  EXPECT_EQ(with_model, (std::set<Rank>{0, 1, 2}));
  EXPECT_EQ(without_model, (std::set<Rank>{3, 4}));
  EXPECT_NEAR(cluster.ConsensusDistance(), 0, 1e-12) << "over the workers";
}

TEST(Roles, AreCountedByTheSpec) {
  EXPECT_EQ(*WorkerCount("ps", 8), 7);
  EXPECT_EQ(*WorkerCount("ps:servers=3", 8), 5);
  EXPECT_EQ(*WorkerCount("dpsgd:order=atc", 8), 8);
  EXPECT_EQ(*WorkerCount("allreduce", 1), 1);
}

TEST(Roles, ShardsCoverTheReplicaOnce) {
  const ShardLayout servers = *ShardLayout::Make(*ParseSpec("ps:servers=7"), 7, 20);
  for (const int64_t size : {int64_t{0}, int64_t{3}, int64_t{7}, int64_t{100}, int64_t{1} << 40}) {
    int64_t end = 0;
    for (Rank index = 0; index < 7; ++index) {
      const ReplicaRange shard = servers.Shard(index, size);
      EXPECT_EQ(shard.offset, end);
      EXPECT_LE(shard.size, size / 7 + 1);
      end = shard.offset + shard.size;
    }
    EXPECT_EQ(end, size);
  }
}

TEST(Errors, NameTheSpecAndTheRemedy) {
  const auto error = [](const char* spec, Rank nodes) {
    const absl::Status status = WorkerCount(spec, nodes).status();
    auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", nodes, 1));
    EXPECT_EQ(MakeAlgorithm(spec, {.mixing = mixing}).status(), status);
    return std::string(status.message());
  };
  EXPECT_THAT(error("ps:servers=4", 4),
              AllOf(HasSubstr("ps:servers=4: 4 servers of 4 nodes leave no worker"),
                    HasSubstr("raise --nodes to at least 5 or lower servers to at most 3")));
  EXPECT_THAT(error("ps", 1),
              AllOf(HasSubstr("1 server of 1 node"), HasSubstr("raise --nodes to at least 2"),
                    ::testing::Not(HasSubstr("lower"))));
  EXPECT_THAT(error("ps:servers=4000000000", 4), HasSubstr("servers"));
  EXPECT_THAT(error("ps:servers=0", 4), HasSubstr("servers"));
  EXPECT_THAT(error("ps:server=2", 4), HasSubstr("servers"));
  EXPECT_THAT(error("ps:asink", 4), HasSubstr("unexpected 'asink'"));
}

class ServerViolations : public ::testing::Test {
 protected:
  // Two workers and a server, in round 0 of 3.
  std::unique_ptr<Algorithm> Begun(Rank rank) {
    auto mixing = *MakeMixing("metropolis", *MakeTopology("ring", 3, 1));
    auto algorithm = *MakeAlgorithm(
        "ps", {.rank = rank, .mixing = mixing, .learning_rate = [](Round) { return 0.1; }});
    EXPECT_TRUE(algorithm->On(RoundLimit{3}, host_).ok());
    EXPECT_TRUE(algorithm->On(Start{}, host_).ok());
    return algorithm;
  }
  std::string Error(Algorithm& algorithm, const Event& event) {
    return std::string(algorithm.On(event, host_).message());
  }
  IdleHost host_{10};
};

TEST_F(ServerViolations, OfAServersPeersAreNamed) {
  auto server = Begun(2);
  EXPECT_THAT(Error(*server, Received{0, GradientTag(1)}),
              HasSubstr("a gradient of rank 0 for round 1 came without a post in round 0"));
  EXPECT_EQ(Error(*server, Received{0, GradientTag(0)}), "");
  EXPECT_THAT(Error(*server, Received{0, GradientTag(0)}), HasSubstr("rank 0"));
  EXPECT_THAT(Error(*server, Received{2, GradientTag(0)}), HasSubstr("rank 2"));
  EXPECT_THAT(Error(*server, Received{1, WeightsTag(0)}), HasSubstr("rank 1"));
  EXPECT_THAT(Error(*server, Sent{SendId{9}}),
              HasSubstr("send 9 was reported in round 0; no such weights are on their way"));
  EXPECT_THAT(Error(*server, GradientReady{0}), HasSubstr("asks for none"));
  ASSERT_EQ(server->waiting_for().size(), 1u);
  EXPECT_EQ(server->waiting_for()[0].peer, 1);
}

TEST_F(ServerViolations, OfAWorkersPeersAreNamed) {
  auto worker = Begun(1);
  EXPECT_TRUE(worker->waiting_for().empty()) << "it computes";
  EXPECT_THAT(Error(*worker, Received{2, WeightsTag(0)}),
              HasSubstr("weights of rank 2 for round 0 came without a post"));
  EXPECT_THAT(Error(*worker, GradientReady{1}),
              HasSubstr("round 1 came without a request in round 0"));
  EXPECT_EQ(Error(*worker, GradientReady{0}), "");
  EXPECT_THAT(Error(*worker, GradientReady{0}), HasSubstr("without a request"));
  ASSERT_EQ(worker->waiting_for().size(), 1u);
  EXPECT_EQ(worker->waiting_for()[0].peer, 2);
  EXPECT_THAT(Error(*worker, Received{0, WeightsTag(0)}), HasSubstr("rank 0"));
  EXPECT_THAT(Error(*worker, Sent{SendId{9}}),
              HasSubstr("send 9 was reported in round 0; no such gradient is on its way"));
  EXPECT_EQ(Error(*worker, Received{2, WeightsTag(0)}), "");
  EXPECT_EQ(worker->round(), 1);
}

}  // namespace
}  // namespace grapevine::testing
