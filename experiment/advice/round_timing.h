// How long a round takes in the simulator: no learning, no files.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_ROUND_TIMING_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_ROUND_TIMING_H_

#include <atomic>

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "experiment/core/experiment.h"
#include "run/config/config.pb.h"

namespace grapevine {

struct RoundTimingOptions {
  Round warm_up = 8;    // rounds before the clock starts
  Round measured = 32;  // above 0
  // Ends with kInterrupted once it is set.
  const std::atomic<bool>* interrupted = nullptr;
};

// Mean seconds per round, between the moments when the last worker has done the
// first and the last of the measured rounds. The experiment has a phantom model; the
// cluster is that of `cluster` (its network, bandwidth, latency ...), whose other
// fields do not matter.
absl::StatusOr<double> TimeRounds(const Experiment& experiment, const Config& cluster,
                                  const RoundTimingOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ROUND_TIMING_H_
