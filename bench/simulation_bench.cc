// Timing-only gossip in the simulator: messages and events per second of wall
// time, and memory.
//
//   bazel run //bench:simulation_bench
//       [-- NODES ROUNDS [TOPOLOGY [BYTES [COMPUTE_NS [MODEL]]]]]
//   e.g. -- 1000000 10 one-peer-exponential 1000000 0 flow
//
// The last line is for programs: nodes, events, processor seconds, gigabytes.

#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "bench/timing_run.h"

namespace grapevine {
namespace {

double PeakGigabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e9;
}

int Main(int argc, char** argv) {
  TimingRun run;
  if (argc > 1) run.nodes = std::atoi(argv[1]);
  if (argc > 2) run.rounds = std::atoll(argv[2]);
  if (argc > 3) run.topology = argv[3];
  if (argc > 4) run.bytes = std::atoll(argv[4]);
  if (argc > 5) run.compute = std::atoll(argv[5]);
  if (argc > 6) run.model = argv[6];
  if (run.nodes <= 0 || run.rounds <= 0 || run.bytes < 4 || run.compute < 0) {
    std::fprintf(
        stderr,
        "usage: simulation_bench [NODES [ROUNDS [TOPOLOGY [BYTES [COMPUTE_NS [MODEL]]]]]]\n");
    return 2;
  }
  const absl::StatusOr<TimingResult> result = MeasureTiming(run);
  if (!result.ok()) {
    std::fprintf(stderr, "%s\n", std::string(result.status().message()).c_str());
    return 2;
  }
  const double messages =
      static_cast<double>(result->bytes_sent) / static_cast<double>(run.bytes / 4 * 4);
  const double events = static_cast<double>(result->events);
  std::printf(
      "%s, model %s, %d nodes, %lld rounds: %.3f s of wall and %.3f s of processor time (%.3f s to "
      "build), %.3g and %.3g messages/s, %.0f ns an event (processor), %.3f simulated s, %.2f GB\n",
      run.topology.c_str(), run.model.c_str(), run.nodes, static_cast<long long>(run.rounds),
      result->wall, result->processor, result->build, messages / result->wall,
      messages / result->processor, 1e9 * result->processor / events, result->simulated,
      PeakGigabytes());
  std::printf("%d %lld %.6f %.3f\n", run.nodes, static_cast<long long>(result->events),
              result->processor, PeakGigabytes());
  return 0;
}

}  // namespace
}  // namespace grapevine

int main(int argc, char** argv) { return grapevine::Main(argc, argv); }
