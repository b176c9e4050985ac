// When the rounds of an experiment end in the simulator, without learning or files.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_ROUND_TIMES_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_ROUND_TIMES_H_

#include <atomic>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/simulated_cluster.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// Returns the time from the beginning until the last worker has completed each of the first
// `rounds` rounds. Element 0 is 0; element R is what `grapevine sim --rounds=R` calls the simulated
// time of R rounds. The experiment must have a phantom model. Returns kInterrupted once
// `interrupted` is set, unless it is null.
absl::StatusOr<std::vector<Nanoseconds>> RoundTimes(const Experiment& experiment,
                                                    const SimulatedCluster& cluster, Round rounds,
                                                    const std::atomic<bool>* interrupted);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_ROUND_TIMES_H_
