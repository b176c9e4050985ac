// What came out of an experiment, from its last measurements.
#ifndef GRAPEVINE_CLI_EXPERIMENT_SUMMARY_H_
#define GRAPEVINE_CLI_EXPERIMENT_SUMMARY_H_

#include "cli/experiment.h"
#include "run/metrics.h"
#include "run/summary.h"

namespace grapevine {

// All but the clock (wall or simulated time) and the nodes' own accuracies;
// `stopped` is "finished".
Summary SummaryOf(const Experiment& experiment, const RunMetrics& latest);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_EXPERIMENT_SUMMARY_H_
