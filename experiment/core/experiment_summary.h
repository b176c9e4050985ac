// What came out of an experiment, from its measurements.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_SUMMARY_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_SUMMARY_H_

#include <optional>

#include "experiment/core/experiment.h"
#include "run/records/metrics.h"
#include "run/records/summary.h"

namespace grapevine {

// All but the clock (wall or simulated time) and the nodes' own accuracies. `latest` has
// the last values, `met` the first that met --target-accuracy, where any did.
Summary SummaryOf(const Experiment& experiment, const RunMetrics& latest,
                  const std::optional<RunMetrics>& met);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_SUMMARY_H_
