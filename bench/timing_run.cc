#include "bench/timing_run.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "run/timing/compute_time.h"
#include "sim/engine/simulation.h"
#include "sim/engine/vector_store.h"
#include "sim/network/network_plan.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

using Clock = std::chrono::steady_clock;

// Gossip keeps two rounds of receive buffers, which hides the credits' latency.
constexpr int kWindow = 2;

}  // namespace

absl::StatusOr<TimingResult> MeasureTiming(const TimingRun& run) {
  ASSIGN_OR_RETURN(const auto plan, MakeNetworkPlan({.network = "switch",
                                                     .model = run.model,
                                                     .bandwidth = run.bandwidth,
                                                     .latency = run.latency,
                                                     .nodes = run.nodes}));
  ASSIGN_OR_RETURN(const auto topology, MakeTopology(run.topology, run.nodes, 1));
  ASSIGN_OR_RETURN(const auto mixing, MakeMixing("metropolis", topology));
  PhantomVectors vectors(run.bytes / static_cast<int64_t>(sizeof(float)), /*step_vectors=*/4);
  const FixedComputeTime compute(run.compute);
  const auto make_algorithm = [&](Rank rank) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
    if (run.make_algorithm) return run.make_algorithm(rank);
    return MakeAlgorithm(run.algorithm, {.rank = rank,
                                         .mixing = mixing,
                                         .learning_rate = [](Round) { return 0.1; },
                                         .window = kWindow});
  };

  TimingResult result;
  const Clock::time_point begin = Clock::now();
  ASSIGN_OR_RETURN(
      const auto simulation,
      Simulation::Make({.nodes = run.nodes},
                       {.make_network = [&](AlarmClock* clock) { return plan.Make(clock); },
                        .make_algorithm = make_algorithm,
                        .vectors = &vectors,
                        .compute = &compute}));
  result.build = Seconds(Clock::now() - begin);
  const Clock::time_point built = Clock::now();
  const std::clock_t processor_built = std::clock();
  RETURN_IF_ERROR(simulation->Run(run.rounds));
  result.processor = static_cast<double>(std::clock() - processor_built) / CLOCKS_PER_SEC;
  result.wall = Seconds(Clock::now() - built);
  Nanoseconds end = 0;
  for (Rank rank = 0; rank < run.nodes; ++rank) end = std::max(end, simulation->ended(rank));
  result.simulated = static_cast<double>(end) * 1e-9;
  result.events = simulation->events();
  result.bytes_sent = simulation->bytes_sent();
  return result;
}

}  // namespace grapevine
