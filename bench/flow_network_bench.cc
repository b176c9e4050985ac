// The network models under timing-only gossip: messages per second of wall time.
//
// Without a compute spec all nodes keep step, so that changes of rates come in
// large batches; with random gradient times every flow begins and ends at a moment
// of its own.
//
//   bazel run -c opt //bench:flow_network_bench
//       [-- NODES ROUNDS [NETWORK [MODEL [COMPUTE [TOPOLOGY]]]]]
//   e.g. -- 8192 100 switch flow exponential:mean=10ms

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "algorithm/algorithm.h"
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

constexpr int64_t kBytes = 1'000'000;

absl::Status Measure(Rank nodes, Round rounds, const std::string& network, const std::string& model,
                     const std::string& compute, const std::string& graph) {
  ASSIGN_OR_RETURN(const auto plan,
                   MakeNetworkPlan({.network = network, .model = model, .nodes = nodes}));
  ASSIGN_OR_RETURN(const auto times, MakeComputeTime(compute, 1));
  ASSIGN_OR_RETURN(const auto topology, MakeTopology(graph, nodes, 1));
  const std::shared_ptr<const Mixing> mixing = *MakeMixing("metropolis", topology);
  const LearningRate learning_rate = [](Round) { return 0.1; };
  PhantomVectors vectors(kBytes / 4, /*step_vectors=*/4);
  ASSIGN_OR_RETURN(
      auto simulation,
      Simulation::Make(
          {.nodes = nodes},
          {.make_network = [&](AlarmClock* clock) { return plan.Make(clock); },
           .make_algorithm =
               [&](Rank rank) {
                 return MakeAlgorithm(
                     "dpsgd",
                     {.rank = rank, .mixing = mixing, .learning_rate = learning_rate, .window = 2});
               },
           .vectors = &vectors,
           .compute = times.get()}));
  const auto begin = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(simulation->Run(rounds));
  const double seconds = Seconds(std::chrono::steady_clock::now() - begin);
  const double messages = static_cast<double>(simulation->bytes_sent()) / kBytes;
  std::printf("%s; %s, compute %s: %.3g messages in %.3f s, %.3g messages/s; %.6f simulated s\n",
              plan.description().c_str(), topology->name().c_str(), compute.c_str(), messages,
              seconds, messages / seconds, static_cast<double>(simulation->now()) * 1e-9);
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  const absl::Status status =
      Measure(argc > 1 ? std::atoi(argv[1]) : 8192, argc > 2 ? std::atoll(argv[2]) : 100,
              argc > 3 ? argv[3] : "switch", argc > 4 ? argv[4] : "flow", argc > 5 ? argv[5] : "0",
              argc > 6 ? argv[6] : "ring");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 2;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc, argv); }
