// One timing-only simulation on one switch, measured: shared by the simulator's benchmarks.
//
// Thread-safety: a run belongs to one thread.
#ifndef GRAPEVINE_BENCH_TIMING_RUN_H_
#define GRAPEVINE_BENCH_TIMING_RUN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "base/ids.h"
#include "sim/nanoseconds.h"

namespace grapevine {

struct TimingRun {
  Rank nodes = 8192;
  Round rounds = 100;
  int64_t bytes = 1'000'000;          // of a replica, a multiple of 4
  std::string model = "nic";          // or "flow"
  int64_t bandwidth = 1'000'000'000;  // bits a second, each direction
  Nanoseconds latency = 50'000;
  Nanoseconds compute = 0;  // of a gradient
  // A spec of algorithm/algorithm.h, unless make_algorithm is given.
  std::string algorithm = "dpsgd";
  std::string topology = "ring";
  std::function<std::unique_ptr<Algorithm>(Rank)> make_algorithm;
};

struct TimingResult {
  double simulated = 0;  // seconds until the last node's last round ends
  double build = 0;      // seconds to make all nodes
  double wall = 0;       // seconds of the run alone
  double processor = 0;  // seconds of processor time, whatever else runs on the machine
  int64_t events = 0;
  int64_t bytes_sent = 0;
};

// Errors are those of the specs and of the simulation.
absl::StatusOr<TimingResult> MeasureTiming(const TimingRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_TIMING_RUN_H_
