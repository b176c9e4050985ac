// Nodes die at any moment, in the middle of any round: those who are left agree on a view, go on
// and come to the end of the run, whatever the order of events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "tests/algorithm/quadratics.h"
#include "tests/testing/cluster.h"
#include "tests/testing/registered_specs.h"
#include "tests/testing/seeds.h"
#include "tests/testing/sightings.h"

namespace grapevine::testing {
namespace {

constexpr Round kRounds = 20;
constexpr uint64_t kSeeds = 60;
// From where all optima are, also after steps that overshoot.
constexpr float kFurthest = 50;
// Replica, optimizer's state, and what an outer step keeps, or the last sum.
constexpr size_t kMaxAtRest = 4;
// Scratch memory of sums, which wait for the next one; of push-sum with an overlap, what is in
// flight, of no more than seven neighbours.
constexpr size_t kMaxScratch = 4, kMaxInFlight = 3 * 7;

bool Clips(std::string_view spec) { return spec.find("clip") != spec.npos; }
bool HasServers(std::string_view spec) { return *WorkerCount(spec, 4) < 4; }
// Neither a weighted mean (push-sum) nor one that something moves (momentum, clipping).
bool KeepsTheMean(std::string_view spec) { return spec.starts_with("dpsgd") && !Clips(spec); }

template <typename Predicate>
auto ResilientSpecs(Predicate applies) {
  std::vector<std::string> specs;
  for (const std::string& spec : ExamplesOf(Algorithms())) {
    if (IsResilient(spec) && applies(spec)) specs.push_back(spec);
  }
  return ::testing::ValuesIn(specs);
}

class ResilientContract : public ::testing::TestWithParam<std::string> {
 protected:
  // Those from the first on that stay the same and go both ways.
  static constexpr uint64_t kSteady = 4;
  static constexpr const char* kTopologies[] = {
      "ring",        "complete", "random:d=3", "path", "one-peer-exponential", "random-matching",
      "exponential",
  };

  // Of a seed: a graph, a number of nodes, a window and an order of events.
  static ClusterOptions Draw(KeyedRandom& random) {
    ClusterOptions options{
        .algorithm = GetParam(),
        .topology =
            kTopologies[random.Below(HasRounds(GetParam()) ? std::size(kTopologies) : kSteady)],
        .nodes = static_cast<Rank>(4 + 2 * random.Below(3)),
        .parameters = 3,
        .learning_rate = HasServers() ? 0.01 : 0.1,  // what is stale overshoots
        .momentum = 0.9,
        .optimizer = random.Below(2) == 0 ? "sgd" : "adam",
        .window = static_cast<int>(1 + random.Below(3)),
        .length = {.rounds = kRounds, .rounds_per_epoch = 5.5},
        .gradient = Quadratic(1, 1, 11)};
    if (IsPushSum()) options.mixing = "out-degree";
    options.order_seed = random.Below(1'000'000);
    options.resilient = true;
    return options;
  }
  static bool HasServers() { return testing::HasServers(GetParam()); }
  static bool IsPushSum() { return GetParam().starts_with("sgp"); }

  // Runs to the end. Every `mean`-th step or so a node dies, so long as at most `most` are dead;
  // or, with joins, comes in again.
  static absl::Status RunWithDeaths(Cluster& cluster, Rank nodes, KeyedRandom& random,
                                    uint64_t mean, Rank most, bool joins = false) {
    absl::Status status = cluster.Begin(kRounds);
    const Rank workers = *WorkerCount(GetParam(), nodes);  // servers are spared
    const auto dead = [&] {
      Rank count = 0;
      for (Rank rank = 0; rank < nodes; ++rank) count += cluster.alive(rank) ? 0 : 1;
      return count;
    };
    for (auto all = cluster.Choices(); status.ok() && !all.empty(); all = cluster.Choices()) {
      const auto victim = static_cast<Rank>(random.Below(workers));
      if (random.Below(mean) == 0) {
        if (cluster.alive(victim) && dead() < std::min(most, workers - 1)) {
          cluster.Kill(victim);
        } else if (joins && !cluster.alive(victim)) {
          cluster.Join(victim);
        }
        continue;
      }
      status = cluster.Take(all[random.Below(all.size())]);
    }
    if (!status.ok()) return status;
    return cluster.Run(kRounds);  // nothing is left to do: says who is stuck
  }

  // Of nodes that share a budget of gradients: those of all together, also of the lost.
  static Round Steps(const Cluster& cluster, Rank nodes) {
    Round steps = 0;
    const Rank workers = HasRounds(GetParam()) ? 0 : *WorkerCount(GetParam(), nodes);
    for (Rank rank = 0; rank < workers; ++rank) steps += cluster.algorithm(rank).round();
    return steps;
  }

  // Of nodes with one parameter, of which some are lost: the means of the last view's members after
  // each round, from its first one on.
  static absl::StatusOr<std::vector<double>> MeansOfLiving(ClusterOptions options,
                                                           KeyedRandom& random,
                                                           bool joins = false) {
    options.parameters = 1;
    std::map<Round, std::map<Rank, double>> replicas;
    options.at_boundary = [&](Rank rank, Round completed, std::span<const float> x) {
      replicas[completed][rank] = x[0];
    };
    Cluster cluster(options);
    const auto most = static_cast<Rank>(options.nodes - 2);
    RETURN_IF_ERROR(RunWithDeaths(cluster, options.nodes, random, 100, most, joins));
    const View& view = cluster.view();
    std::vector<double> means;
    for (Round round = std::max<Round>(view.from, 1); round <= kRounds; ++round) {
      double sum = 0;
      for (const Member member : view.members) sum += replicas[round].at(member);
      means.push_back(sum / view.size());
    }
    return means;
  }
};

// Of some of them more is true.
class ResilientNewcomers : public ResilientContract {};
class ResilientMean : public ResilientContract {};
class ResilientMeanWithoutRounds : public ResilientContract {};
class ResilientCheckpoints : public ResilientContract {};
class ResilientSteps : public ResilientContract {};
class ResilientSharing : public ResilientContract {};
class ResilientSums : public ResilientContract {};
class ResilientServers : public ResilientContract {};

TEST_P(ResilientContract, WithoutLossesNoBitChanges) {
  for (const uint64_t seed : Seeds(kSeeds / 4)) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << options.topology);
    Cluster resilient(options);
    ASSERT_TRUE(resilient.Run(kRounds).ok());
    options.resilient = false;
    Cluster plain(options);
    ASSERT_TRUE(plain.Run(kRounds).ok());
    for (Rank rank = 0; rank < options.nodes; ++rank) {
      EXPECT_THAT(resilient.replica(rank), ::testing::ElementsAreArray(plain.replica(rank)));
    }
    EXPECT_EQ(resilient.view().epoch, 0);
  }
}

TEST_P(ResilientContract, TheLivingComeToTheEnd) {
  PlaySeeds(kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    const ClusterOptions options = Draw(random);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", " << options.nodes << " nodes, " << options.topology);
    Cluster cluster(options);
    const absl::Status status =
        RunWithDeaths(cluster, options.nodes, random, 150, static_cast<Rank>(options.nodes - 1));
    ASSERT_TRUE(status.ok()) << status;
    std::vector<Member> living;
    for (Rank rank = 0; rank < options.nodes; ++rank) {
      if (!cluster.alive(rank)) continue;
      living.push_back(rank);
      EXPECT_TRUE(!HasRounds(GetParam()) || cluster.algorithm(rank).round() == kRounds);
      EXPECT_LE(cluster.live_vectors(rank), kMaxAtRest + (IsCentralized(GetParam()) ? kMaxScratch
                                                          : IsPushSum()             ? kMaxInFlight
                                                                                    : 0));
      for (const float x : cluster.replica(rank)) EXPECT_LT(std::abs(x), kFurthest);
    }
    EXPECT_EQ(cluster.view().members, living);
    EXPECT_EQ(Steps(cluster, options.nodes),
              HasRounds(GetParam()) ? 0 : kRounds * *WorkerCount(GetParam(), options.nodes));
    seen.Count("views", cluster.view().epoch);
  });
}

// Where all die who have a model, those who wait for one leave: nobody is left.
TEST_P(ResilientNewcomers, WhoComesBackComesToTheEndToo) {
  PlaySeeds(kSeeds, kSeeds / 20, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    const ClusterOptions options = Draw(random);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", " << options.nodes << " nodes, " << options.topology);
    Cluster cluster(options);
    const absl::Status status = RunWithDeaths(cluster, options.nodes, random, 60,
                                              static_cast<Rank>(options.nodes - 1), true);
    ASSERT_TRUE(status.ok()) << status;
    std::vector<Member> living;
    uint64_t returned = 0;
    for (Rank rank = 0; rank < options.nodes; ++rank) {
      if (!cluster.alive(rank)) continue;
      living.push_back(rank);
      returned += cluster.came_in(rank);
      EXPECT_EQ(cluster.algorithm(rank).round(), kRounds);
      EXPECT_LE(cluster.live_vectors(rank), kMaxAtRest + (IsPushSum() ? kMaxInFlight : 0));
    }
    if (!living.empty()) {
      EXPECT_EQ(cluster.view().members, living);
    }
    seen.Count("those who have come back", returned);
  });
}

// The last who has one dies while somebody waits for it: nothing is left to do, and nobody to
// agree.
TEST_P(ResilientNewcomers, NobodyWaitsForAModelThatIsGone) {
  PlaySeeds(kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    const ClusterOptions options = Draw(random);
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", " << options.nodes << " nodes, " << options.topology);
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Begin(kRounds).ok());
    const auto go_on_until = [&](const auto& reached) {
      for (auto all = cluster.Choices(); !reached() && !all.empty(); all = cluster.Choices()) {
        ASSERT_TRUE(cluster.Take(all[random.Below(all.size())]).ok());
      }
    };
    for (Rank rank = 1; rank < options.nodes; ++rank) cluster.Kill(rank);
    go_on_until([&] { return cluster.view().size() == 1; });
    cluster.Join(1);
    go_on_until([&] { return cluster.alive(1); });
    seen.Count("those who wait for a model", cluster.alive(1) && !cluster.has_model(1));
    cluster.Kill(0);
    const absl::Status ended = cluster.Run(kRounds);
    ASSERT_TRUE(ended.ok()) << ended;
    EXPECT_FALSE(cluster.alive(1) && !cluster.has_model(1));
  });
}

// With a rate of 0 rounds only average. From the round on from which the last view holds, the mean
// of its members does not move.
TEST_P(ResilientMean, TheMeanOfTheLivingIsKept) {
  PlaySeeds(kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    options.learning_rate = 0;
    options.initial = [](Rank rank, std::span<float> x) { x[0] = static_cast<float>(1 << rank); };
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", " << options.nodes << " nodes, " << options.topology);
    const absl::StatusOr<std::vector<double>> means = MeansOfLiving(options, random);
    ASSERT_TRUE(means.ok()) << means.status();
    seen.Count("rounds of the last view", means->size() - 1);
    for (const double mean : *means) {
      EXPECT_NEAR(mean, means->front(), 1e-5 * (1 << options.nodes));
    }
  });
}

// Without rounds, of what its members begin it with, wherever each of them is then.
TEST_P(ResilientMeanWithoutRounds, TheMeanOfTheLivingIsKeptWithoutRounds) {
  PlaySeeds(kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    options.learning_rate = 0;
    options.parameters = 1;
    options.initial = [](Rank rank, std::span<float> x) { x[0] = static_cast<float>(1 << rank); };
    std::map<Rank, double> begun;
    for (Rank rank = 0; rank < options.nodes; ++rank) begun[rank] = 1 << rank;
    options.at_view = [&begun](Rank rank, const View&, std::span<const float> x) {
      if (!x.empty()) begun[rank] = x[0];
    };
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", " << options.nodes << " nodes, " << options.topology);
    Cluster cluster(options);
    const absl::Status status =
        RunWithDeaths(cluster, options.nodes, random, 100, static_cast<Rank>(options.nodes - 2));
    ASSERT_TRUE(status.ok()) << status;
    double change = 0;
    for (const Member member : cluster.view().members) {
      change += cluster.replica(member)[0] - begun[member];
    }
    EXPECT_NEAR(change, 0, 1e-5 * (1 << options.nodes));
    seen.Count("views", cluster.view().epoch);
  });
}

// What all keep between two views belongs together: nothing is on its way. So the mean over the
// replicas is that of the beginning where nobody steps, every gradient of a worker is in the
// weights of every server, and a run that begins with these states does what was left.
TEST_P(ResilientCheckpoints, WhatAllHaveBetweenTwoViewsIsACheckpoint) {
  PlaySeeds(2 * kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    options.parameters = 4;
    options.optimizer = "sgd";
    const bool steps = HasServers() || random.Below(2) == 0;
    if (!steps) options.learning_rate = options.momentum = 0;
    options.initial = [](Rank rank, std::span<float> x) {
      std::ranges::fill(x, static_cast<float>(HasServers() ? 1 : 1 << rank));
    };
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << options.nodes << " nodes");
    const Rank workers = *WorkerCount(GetParam(), options.nodes);
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Begin(kRounds).ok());
    const uint64_t at = random.Below(600);
    uint64_t step = 0;
    for (auto all = cluster.Choices(); !all.empty(); all = cluster.Choices(), ++step) {
      if (step == at) cluster.Renew(1);
      const absl::Status status = cluster.Take(all[random.Below(all.size())]);
      ASSERT_TRUE(status.ok()) << status;
    }
    ASSERT_TRUE(cluster.Run(kRounds).ok());
    EXPECT_EQ(Steps(cluster, options.nodes), kRounds * workers);
    const bool taken = step >= at && cluster.view().epoch > 0;
    seen.Count("checkpoints", taken);
    if (!taken) return;  // it was over before
    const std::vector<NodeState> saved = cluster.saved();
    Round done = 0;
    double sum = 0;
    double expected = 0;
    for (Rank rank = 0; rank < workers; ++rank) {
      done += saved[rank].round;
      if (!HasServers()) sum += saved[rank].vectors.at("replica").span()[0];
      expected += 1 << rank;
    }
    EXPECT_LE(done, kRounds * workers);
    if (!steps) {
      EXPECT_NEAR(sum, expected, 1e-5 * (1 << options.nodes));
    }
    for (Rank server = workers; server < options.nodes; ++server) {
      EXPECT_EQ(saved[server].numbers.at("gradients"), static_cast<double>(done));
    }
    options.resume = saved;
    options.order_seed = seed;
    Cluster rest(options);
    const absl::Status status = rest.Run(kRounds);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(Steps(rest, options.nodes), kRounds * workers);
  });
}

// Nor do those who come in move it, at whatever they would have begun alone.
TEST_P(ResilientMean, ANewcomerBeginsAtTheMean) {
  PlaySeeds(kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    options.parameters = 1 + static_cast<int64_t>(random.Below(20));
    options.learning_rate = 0;
    options.initial = [](Rank rank, std::span<float> x) { std::ranges::fill(x, float(1 << rank)); };
    std::map<Round, std::map<Rank, std::vector<float>>> replicas;
    options.at_boundary = [&](Rank rank, Round completed, std::span<const float> x) {
      replicas[completed][rank].assign(x.begin(), x.end());
    };
    SCOPED_TRACE(::testing::Message()
                 << "seed " << seed << ", " << options.nodes << " nodes, " << options.topology);
    Cluster cluster(options);
    ASSERT_TRUE(cluster.Begin(kRounds).ok());
    const auto go_on = [&](uint64_t events) {
      for (auto all = cluster.Choices(); events > 0 && !all.empty(); all = cluster.Choices()) {
        ASSERT_TRUE(cluster.Take(all[random.Below(all.size())]).ok());
        --events;
      }
    };
    const auto victim = static_cast<Rank>(random.Below(options.nodes));
    go_on(random.Below(100));
    cluster.Kill(victim);
    go_on(100 + random.Below(50));
    cluster.Join(victim);
    const absl::Status ended = cluster.Run(kRounds);
    ASSERT_TRUE(ended.ok()) << ended;
    const View& view = cluster.view();
    seen.Count("newcomers", view.newcomers.size());
    if (view.newcomers.empty()) return;  // the run was over
    const auto mean = [&](Round round, const std::vector<Member>& members, size_t i) {
      double sum = 0;
      for (const Member member : members) sum += replicas[round].at(member)[i];
      return sum / static_cast<double>(members.size());
    };
    ASSERT_THAT(view.newcomers, ::testing::ElementsAre(victim));
    for (size_t i = 0; i < static_cast<size_t>(options.parameters); ++i) {
      EXPECT_NEAR(mean(kRounds, view.members, i), mean(view.from, view.Veterans(), i),
                  1e-5 * (1 << options.nodes));
    }
  });
}

// On a slope that is the same everywhere the mean goes down by a step in each round; not further
// because some are lost.
TEST_P(ResilientSteps, TheLivingStepNoFurtherThanBefore) {
  PlaySeeds(kSeeds, kSeeds / 4, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    options.topology = "ring";
    options.optimizer = "sgd";
    options.momentum = 0;
    options.gradient = [](Rank, Round, std::span<const float>, std::span<float> gradient) {
      gradient[0] = 1;
    };
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << options.nodes << " nodes");
    const absl::StatusOr<std::vector<double>> means = MeansOfLiving(options, random);
    ASSERT_TRUE(means.ok()) << means.status();
    seen.Count("rounds of the last view", means->size() - 1);
    if (absl::StrContains(GetParam(), "overlap")) {  // what is in flight is up to three rounds old
      const double steps = static_cast<double>(means->size() - 1);
      EXPECT_NEAR((means->front() - means->back()) / options.learning_rate, steps, 3);
      return;
    }
    for (size_t i = 1; i < means->size(); ++i) {
      EXPECT_NEAR((*means)[i - 1] - (*means)[i], options.learning_rate, 1e-5);
    }
  });
}

// Replicas, where they are averaged exactly; and what an outer optimizer keeps.
TEST_P(ResilientSharing, WhatAllShareIsTheSame) {
  PlaySeeds(kSeeds / 2, kSeeds / 10, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    options.save_at = kRounds;
    using Replicas = std::map<Round, std::map<Rank, std::vector<float>>>;
    Replicas with, without;
    const auto keep_in = [](Replicas* replicas) {
      return [replicas](Rank rank, Round completed, std::span<const float> x) {
        (*replicas)[completed][rank].assign(x.begin(), x.end());
      };
    };
    options.at_boundary = keep_in(&without);
    Cluster all(options);
    ASSERT_TRUE(all.Run(kRounds).ok());
    options.at_boundary = keep_in(&with);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << options.nodes << " nodes");
    Cluster cluster(options);
    const absl::Status status =
        RunWithDeaths(cluster, options.nodes, random, 100, static_cast<Rank>(options.nodes - 1));
    ASSERT_TRUE(status.ok()) << status;
    const std::vector<Member>& living = cluster.view().members;
    const bool some_are_lost = cluster.view().epoch > 0 && living.size() > 1;
    int shared = 0;
    for (const auto& [round, replicas] : without) {
      const bool same = std::ranges::all_of(
          replicas,
          [&first = replicas.at(0)](const auto& replica) { return replica.second == first; });
      if (!same) continue;
      ++shared;
      for (const Member member : living) {
        EXPECT_EQ(with[round].at(member), with[round].at(living[0])) << round;
      }
    }
    for (const auto& [name, first] : cluster.saved(living[0]).vectors) {
      if (name == "replica" || name == "optimizer") continue;
      ++shared;
      for (const Member member : living) {
        const SharedVector& own = cluster.saved(member).vectors.at(name);
        EXPECT_TRUE(std::ranges::equal(own.span(), first.span())) << name;
      }
    }
    seen.Count("what some share without the lost", some_are_lost ? shared : 0);
  });
}

// The rounds from a view's first one on have the bits of a run of its members alone, which began
// with the replicas that all had until then.
TEST_P(ResilientSums, ASumIsDoneAgainAsIfTheDeadHadNeverBeenThere) {
  PlaySeeds(kSeeds / 2, kSeeds / 8, [](uint64_t seed, Sightings& seen) {
    KeyedRandom random(seed, Purpose::kTopology);
    ClusterOptions options = Draw(random);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << options.nodes << " nodes");
    Cluster cluster(options);
    const absl::Status status = RunWithDeaths(cluster, options.nodes, random, 100, 1);
    ASSERT_TRUE(status.ok()) << status;
    const View view = cluster.view();
    ClusterOptions before = options;
    before.save_at = view.from;
    Cluster all(before);
    ASSERT_TRUE(all.Run(view.epoch == 0 ? kRounds : view.from).ok());
    const bool goes_on = view.epoch > 0 && view.from < kRounds;
    seen.Count("runs that go on in another view", goes_on);
    if (!goes_on) {
      for (const Member member : view.members) {
        EXPECT_THAT(cluster.replica(member), ::testing::ElementsAreArray(all.replica(member)));
      }
      return;
    }
    ClusterOptions alone = options;
    alone.topology = "ring";  // of no consequence, but some fit no other number of nodes
    alone.nodes = view.size();
    alone.resilient = false;
    alone.begin = view.from;
    alone.gradient = [&](Rank rank, Round round, std::span<const float> x, std::span<float> g) {
      options.gradient(view.members[rank], round, x, g);
    };
    if (view.from > 0) {
      const std::vector<NodeState> saved = all.saved();
      for (const Member member : view.members) alone.resume.push_back(saved[member]);
    }
    Cluster living(alone);
    ASSERT_TRUE(living.Run(kRounds).ok());
    for (Rank rank = 0; rank < view.size(); ++rank) {
      EXPECT_THAT(cluster.replica(view.members[rank]),
                  ::testing::ElementsAreArray(living.replica(rank)));
    }
  });
}

// Likewise where servers step: from a view's first round on, along the mean of its workers alone.
TEST_P(ResilientServers, ServersGoOnAsIfTheDeadHadNeverBeenThere) {
  PlaySeeds(kSeeds, kSeeds / 8, [](uint64_t seed, Sightings& seen) {
    const auto run = [&](ClusterOptions* options, Round save_at) {
      KeyedRandom random(seed, Purpose::kTopology);
      *options = Draw(random);
      options->save_at = save_at;
      auto cluster = std::make_unique<Cluster>(*options);
      EXPECT_TRUE(RunWithDeaths(*cluster, options->nodes, random, 100, 2).ok());
      return cluster;
    };
    ClusterOptions options;
    const View view = run(&options, -1)->view();
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << options.nodes << " nodes");
    const bool goes_on = view.epoch > 0 && view.from > 0 && view.from < kRounds;
    seen.Count("runs that go on in another view", goes_on);
    if (!goes_on) return;
    const auto cluster = run(&options, view.from);
    ClusterOptions alone = options;
    alone.topology = "ring";
    alone.nodes = view.size();
    alone.resilient = false;
    alone.save_at = -1;
    alone.begin = view.from;
    alone.gradient = [&](Rank rank, Round round, std::span<const float> x, std::span<float> g) {
      options.gradient(view.members[rank], round, x, g);
    };
    for (const Member member : view.members) alone.resume.push_back(cluster->saved(member));
    Cluster living(alone);
    ASSERT_TRUE(living.Run(kRounds).ok());
    for (Rank rank = 0; rank < view.size(); ++rank) {
      EXPECT_THAT(cluster->replica(view.members[rank]),
                  ::testing::ElementsAreArray(living.replica(rank)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(All, ResilientContract, ResilientSpecs([](auto&) { return true; }),
                         SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientNewcomers, ResilientSpecs(TakesNewcomers), SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientMean, ResilientSpecs(KeepsTheMean), SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientMeanWithoutRounds, ResilientSpecs([](auto& spec) {
                           return !HasRounds(spec) && !IsCentralized(spec);
                         }),
                         SpecTestName);
// The others save after a round.
INSTANTIATE_TEST_SUITE_P(All, ResilientCheckpoints,
                         ResilientSpecs([](auto& spec) { return !HasRounds(spec); }), SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientSteps, ResilientSpecs([](auto& spec) {
                           return KeepsTheMean(spec) || (spec.starts_with("sgp") && !Clips(spec));
                         }),
                         SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientSharing, ResilientSpecs([](auto& spec) {
                           return IsCentralized(spec) && !HasServers(spec);
                         }),
                         SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientSums,
                         ResilientSpecs([](auto& spec) { return spec.starts_with("allreduce"); }),
                         SpecTestName);
INSTANTIATE_TEST_SUITE_P(All, ResilientServers, ResilientSpecs([](auto& spec) {
                           return HasServers(spec) && HasRounds(spec);
                         }),
                         SpecTestName);

}  // namespace
}  // namespace grapevine::testing
