// Nodes die in the middle of a simulation: those who are left go on, and nobody waits for the dead.
#include "sim/engine/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "algorithm/membership/resilient_algorithm.h"
#include "algorithm/membership/view_mixing.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "tests/sim/timed_run.h"
#include "tests/testing/registered_specs.h"
#include "tests/testing/sightings.h"

namespace grapevine::testing {
namespace {

constexpr Round kMortalRounds = 60;
constexpr int64_t kReplica = 250'000;  // 1 MB

// All whose nodes can go on.
std::vector<std::string> Mortal() {
  std::vector<std::string> specs;
  for (const std::string& spec : ExamplesOf(Algorithms())) {
    if (IsResilient(spec)) specs.push_back(spec);
  }
  return specs;
}

// Those of them that others may come into.
std::vector<std::string> Returning() {
  std::vector<std::string> specs = Mortal();
  std::erase_if(specs, [](const std::string& spec) { return !TakesNewcomers(spec); });
  return specs;
}

// Nodes that can go on, on one switch.
struct MortalRun {
  std::string algorithm = "dpsgd";
  std::string topology = "ring";
  std::string mixing = "metropolis";
  Rank nodes = 8;
  int window = 2;
  bool resilient = true;
  SimObserver* observer = nullptr;

  FixedComputeTime compute = FixedComputeTime(kGradient);
  PhantomVectors vectors = PhantomVectors(kReplica, /*step_vectors=*/4);
  std::shared_ptr<const Mixing> whole = nullptr;
  std::unique_ptr<ViewMixing> mixings = nullptr;
  std::unique_ptr<Simulation> simulation = nullptr;

  absl::StatusOr<std::unique_ptr<Algorithm>> Instance(const View& view, Rank rank) {
    ASSIGN_OR_RETURN(const LivingMixing living, mixings->Of(view));
    return MakeAlgorithm(algorithm, {.rank = rank,
                                     .mixing = living.mixing,
                                     .learning_rate = [](Round) { return 0.1; },
                                     .window = window,
                                     .length = {.rounds = kMortalRounds, .rounds_per_epoch = 7.5}});
  }
  absl::StatusOr<std::unique_ptr<Algorithm>> Node(Rank rank) {
    const View first = FirstView(nodes);
    if (!resilient) return Instance(first, rank);
    return ResilientAlgorithm::Make(
        {.self = rank, .first = first, .window = window, .make = [this](const View& view, Rank at) {
           return Instance(view, at);
         }});
  }

  void Make() {
    whole = *MakeMixing(mixing, *MakeTopology(topology, nodes, 1));
    mixings = std::make_unique<ViewMixing>(LivingMixingRequest{.whole = whole,
                                                               .topology = topology,
                                                               .mixing = mixing,
                                                               .usable = UsableWeights(algorithm)});
    const auto network = [this](AlarmClock* clock) {
      return std::make_unique<NicNetwork>(
          nodes, NicOptions{.bandwidth = 0.125, .latency = kMillisecond}, clock);
    };
    const bool shares = !HasRounds(algorithm);
    simulation = *Simulation::Make({.nodes = nodes,
                                    .sharing = shares ? *WorkerCount(algorithm, nodes) : 0,
                                    .window = StepsBetweenExchanges(algorithm)},
                                   {.make_network = network,
                                    .make_algorithm = [this](Rank rank) { return Node(rank); },
                                    .vectors = &vectors,
                                    .compute = &compute,
                                    .observer = observer});
  }
};

TEST(Membership, WithoutADeathNothingTakesLonger) {
  for (const std::string& algorithm : Mortal()) {
    for (const std::string topology : {"ring", "one-peer-exponential"}) {
      if (topology != "ring" && !HasRounds(algorithm)) continue;
      MortalRun plain{.algorithm = algorithm, .topology = topology, .resilient = false};
      plain.Make();
      ASSERT_TRUE(plain.simulation->Run(kMortalRounds).ok());
      MortalRun mortal{.algorithm = algorithm, .topology = topology};
      mortal.Make();
      ASSERT_TRUE(mortal.simulation->Run(kMortalRounds).ok());
      for (Rank rank = 0; rank < plain.nodes; ++rank) {
        EXPECT_EQ(mortal.simulation->rested(rank), plain.simulation->rested(rank))
            << algorithm << " on " << topology;
      }
      EXPECT_EQ(mortal.simulation->bytes_sent(), plain.simulation->bytes_sent());
    }
  }
}

// A gradient and a message of 8 ms, a round; the death, its detection, a latency each for the
// question, the answer and the view, and the round that has to be done again.
TEST(Membership, ADeathCostsItsDetectionAndLittleMore) {
  MortalRun run{.topology = "ring"};
  run.Make();
  MortalRun undisturbed;
  undisturbed.Make();
  ASSERT_TRUE(undisturbed.simulation->Run(kMortalRounds).ok());
  run.simulation->KillAt(3, 200 * kMillisecond, 500 * kMillisecond);
  const absl::Status status = run.simulation->Run(kMortalRounds);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_FALSE(run.simulation->alive(3));
  const Nanoseconds cost = run.simulation->rested(0) - undisturbed.simulation->rested(0);
  EXPECT_GE(cost, 400 * kMillisecond) << "rounds do not go on without an answer";
  EXPECT_LE(cost, 560 * kMillisecond);
}

TEST(Membership, RunsThatCannotGoOnSaySo) {
  MortalRun run{.resilient = false};
  run.Make();
  run.simulation->KillAt(3, 200 * kMillisecond);
  const absl::Status status = run.simulation->Run(kMortalRounds);
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("the members change"));
}

// It waits for the others to agree, and for a replica's bytes over its link: 8 ms.
TEST(Membership, WhoComesBackIsInSoon) {
  MortalRun run{.topology = "ring"};
  run.Make();
  run.simulation->KillAt(3, 200 * kMillisecond);
  run.simulation->ReturnAt(3, 500 * kMillisecond);
  const absl::Status status = run.simulation->Run(kMortalRounds);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(run.simulation->alive(3));
  EXPECT_EQ(run.simulation->view()->epoch, 2);
  EXPECT_EQ(run.simulation->view()->size(), run.nodes);
  MortalRun without;
  without.Make();
  without.simulation->KillAt(3, 200 * kMillisecond);
  ASSERT_TRUE(without.simulation->Run(kMortalRounds).ok());
  EXPECT_LE(run.simulation->rested(0) - without.simulation->rested(0), 60 * kMillisecond);
}

// Of a seed: a run in which every third node dies at some time, and maybe comes back. Every one
// that is left comes to the end, and nothing else is left to do. Returns how many are not, and the
// number of views.
struct Outcome {
  Rank dead;
  uint32_t views;
};
Outcome RunTheMortal(uint64_t seed, bool returns) {
  // Those from the first on that stay the same.
  constexpr uint64_t kSteady = 4;
  const std::vector<std::string> topologies = {
      "ring", "torus", "random:d=3", "complete", "one-peer-exponential", "random-matching"};
  const std::vector<std::string> algorithms = returns ? Returning() : Mortal();
  KeyedRandom random(seed, Purpose::kTopology);
  MortalRun run;
  run.algorithm = algorithms[random.Below(algorithms.size())];
  run.topology = topologies[random.Below(HasRounds(run.algorithm) ? topologies.size() : kSteady)];
  run.nodes = static_cast<Rank>(4 + 2 * random.Below(5));
  run.window = static_cast<int>(1 + random.Below(3));
  run.Make();
  SCOPED_TRACE(::testing::Message() << "seed " << seed << ": " << run.algorithm << " on "
                                    << run.topology << " of " << run.nodes);
  const auto some_time = [&random](uint64_t at_most) {
    return static_cast<Nanoseconds>(random.Below(at_most)) * kMillisecond;
  };
  // Servers are spared, and the last worker.
  for (Rank rank = 0; rank + 1 < *WorkerCount(run.algorithm, run.nodes); ++rank) {
    if (random.Below(3) != 0) continue;
    for (Nanoseconds when = some_time(1500); when < 3000 * kMillisecond;) {
      run.simulation->KillAt(rank, when, some_time(300));
      if (!returns) break;
      when += some_time(400);
      run.simulation->ReturnAt(rank, when);
      when += some_time(400);
    }
  }
  const absl::Status status = run.simulation->Run(kMortalRounds);
  EXPECT_TRUE(status.ok()) << status;
  std::vector<Member> living;
  for (Rank rank = 0; rank < run.nodes; ++rank) {
    if (run.simulation->alive(rank)) living.push_back(rank);
  }
  if (run.simulation->view() != nullptr) {
    EXPECT_EQ(run.simulation->view()->members, living);
  }
  const View* const view = run.simulation->view();
  return {.dead = run.nodes - static_cast<Rank>(living.size()),
          .views = view != nullptr ? view->epoch : 0};
}

TEST(Membership, AnyoneMayDieAtAnyTime) {
  PlaySeeds(400, 200, [](uint64_t seed, Sightings& seen) {
    seen.Count("the dead", RunTheMortal(seed, /*returns=*/false).dead);
  });
}

TEST(Membership, AnyoneMayDieAndComeBackAtAnyTime) {
  PlaySeeds(600, 3000, [](uint64_t seed, Sightings& seen) {
    seen.Count("views", RunTheMortal(seed, /*returns=*/true).views);
  });
}

}  // namespace
}  // namespace grapevine::testing
