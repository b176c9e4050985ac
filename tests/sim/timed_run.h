// Timing-only runs on one switch, for tests of how long things take.
#ifndef GRAPEVINE_TESTS_SIM_TIMED_RUN_H_
#define GRAPEVINE_TESTS_SIM_TIMED_RUN_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "run/timing/compute_time.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/simulation.h"
#include "sim/engine/vector_store.h"
#include "sim/network/fluid_networks.h"
#include "sim/network/network_model.h"
#include "tests/sim/millisecond.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {

inline constexpr Nanoseconds kGradient = 10 * kMillisecond;
inline constexpr int64_t kSlowness = 5;

// All gradients take kGradient, those of one rank kSlowness times as long.
class OneIsSlow final : public ComputeTime {
 public:
  explicit OneIsSlow(Rank slow) : slow_(slow) {}
  int64_t Gradient(Rank rank, Round) const override {
    return rank == slow_ ? kSlowness * kGradient : kGradient;
  }

 private:
  const Rank slow_;
};

struct TimedRun {
  std::string algorithm = "dpsgd";
  std::string topology = "ring";
  Rank nodes = 8;
  Round rounds = 1;
  int64_t elements = 270'000;  // 1.08 MB, a ResNet-20
  NicOptions network = {};
  std::shared_ptr<const ComputeTime> compute = std::make_shared<FixedComputeTime>(0);
  double memory_bandwidth = std::numeric_limits<double>::infinity();
  Nanoseconds message_overhead = 0;
  int window = 2;
  Nanoseconds start_spread = 0;
  uint64_t seed = 1;
  const MessageEffects* effects = nullptr;
  SimObserver* observer = nullptr;
  LearningRate learning_rate = [](Round) { return 0.1; };

  // When each node's last round ends.
  std::vector<Nanoseconds> Ended() const {
    const auto topology_made = MakeTopology(topology, nodes, 1);
    EXPECT_TRUE(topology_made.ok()) << topology_made.status();
    const auto mixing = *MakeMixing("metropolis", *topology_made);
    PhantomVectors vectors(elements, /*step_vectors=*/4);
    auto simulation =
        Simulation::Make({.nodes = nodes,
                          .sharing = HasRounds(algorithm) ? 0 : *WorkerCount(algorithm, nodes),
                          .memory_bandwidth = memory_bandwidth,
                          .message_overhead = message_overhead,
                          .start_spread = start_spread,
                          .seed = seed},
                         {.make_network =
                              [this](AlarmClock* clock) {
                                return std::make_unique<NicNetwork>(nodes, network, clock);
                              },
                          .make_algorithm =
                              [&](Rank rank) {
                                return MakeAlgorithm(algorithm, {.rank = rank,
                                                                 .mixing = mixing,
                                                                 .learning_rate = learning_rate,
                                                                 .window = window});
                              },
                          .vectors = &vectors,
                          .compute = compute.get(),
                          .effects = effects,
                          .observer = observer});
    EXPECT_TRUE(simulation.ok()) << simulation.status();
    const absl::Status status = (*simulation)->Run(rounds);
    EXPECT_TRUE(status.ok()) << status;
    std::vector<Nanoseconds> ended;
    for (Rank rank = 0; rank < nodes; ++rank) ended.push_back((*simulation)->ended(rank));
    return ended;
  }

  // When the last node's does.
  Nanoseconds Last() const {
    const std::vector<Nanoseconds> ended = Ended();
    return *std::max_element(ended.begin(), ended.end());
  }

  // Seconds per round, once the first rounds, with their cold start, are over.
  double SecondsPerRound() const {
    constexpr Round kFirst = 4;
    constexpr Round kMore = 12;
    TimedRun some = *this;
    some.rounds = kFirst;
    TimedRun more = *this;
    more.rounds = kFirst + kMore;
    return static_cast<double>(more.Last() - some.Last()) * 1e-9 / kMore;
  }
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_SIM_TIMED_RUN_H_
