// Timing-only gossip in the simulator: messages and events per second of wall
// time, and memory per node.
//
//   bazel run -c opt //bench:simulation_bench [-- NODES ROUNDS [TOPOLOGY [BYTES [COMPUTE_NS]]]]

#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "algorithm/algorithm.h"
#include "run/compute_time.h"
#include "sim/nic_network.h"
#include "sim/phantom_vectors.h"
#include "sim/simulation.h"
#include "topology/mixing.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

double PeakGigabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;
}

int Main(int argc, char** argv) {
  const Rank nodes = argc > 1 ? std::atoi(argv[1]) : 8192;
  const Round rounds = argc > 2 ? std::atoll(argv[2]) : 100;
  const std::string spec = argc > 3 ? argv[3] : "ring";
  const int64_t bytes = argc > 4 ? std::atoll(argv[4]) : 1'000'000;
  const Nanoseconds compute = argc > 5 ? std::atoll(argv[5]) : 0;

  auto topology = MakeTopology(spec, nodes, 1);
  if (!topology.ok()) {
    std::fprintf(stderr, "%s\n", std::string(topology.status().message()).c_str());
    return 2;
  }
  const std::shared_ptr<const Mixing> mixing = *MakeMixing("metropolis", *topology);
  const LearningRate learning_rate = [](Round) { return 0.1; };
  PhantomVectors vectors(bytes / 4, 1);
  const FixedComputeTime fixed(compute);

  const auto begin = std::chrono::steady_clock::now();
  auto simulation = Simulation::Make(
      {.nodes = nodes},
      {.make_network =
           [&](AlarmClock* clock) {
             return std::make_unique<NicNetwork>(
                 nodes, NicOptions{.bandwidth = 0.125, .latency = 50'000}, clock);
           },
       .make_algorithm =
           [&](Rank rank) {
             return MakeAlgorithm(
                 "dpsgd",
                 {.rank = rank, .mixing = mixing, .learning_rate = learning_rate, .window = 2});
           },
       .vectors = &vectors,
       .compute = &fixed});
  const auto built = std::chrono::steady_clock::now();
  const absl::Status status = (*simulation)->Run(rounds);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - built).count();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
    return 1;
  }
  const double messages =
      static_cast<double>((*simulation)->bytes_sent()) / static_cast<double>(bytes / 4 * 4);
  const double events = static_cast<double>((*simulation)->events());
  std::printf(
      "%s, %d nodes, %lld rounds: %.3f s (and %.3f s to build), %.3g messages/s, %.3g events/s "
      "(%.0f ns each), %.3f simulated s, %.2f GB\n",
      (*topology)->name().c_str(), nodes, static_cast<long long>(rounds), seconds,
      std::chrono::duration<double>(built - begin).count(), messages / seconds, events / seconds,
      1e9 * seconds / events, static_cast<double>((*simulation)->now()) * 1e-9, PeakGigabytes());
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc, argv); }
