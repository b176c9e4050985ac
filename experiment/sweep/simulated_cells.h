// What the cells of a simulated sweep need besides the sweep: a runner, and the time of a gradient
// where nobody gives it.
#ifndef GRAPEVINE_EXPERIMENT_SWEEP_SIMULATED_CELLS_H_
#define GRAPEVINE_EXPERIMENT_SWEEP_SIMULATED_CELLS_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/sweep/sweep_run.h"
#include "run/config/sweep_cells.h"

namespace grapevine {

// Simulates a cell; may be called from several threads. Data sets are shared through `data`,
// which must outlive it, as `interrupted` must, unless it is null.
CellRunner SimulatedCells(DatasetCache* data, const std::atomic<bool>* interrupted);

// Called with a cell for which a gradient was measured, and its time as a value of --compute.
using OnMeasured = std::function<void(const SweepCell& cell, const std::string& time)>;

// Sets --compute of the cells that learn and have none to what their gradient takes on this
// machine, measured once for all that share a model, its data and a batch. If an interrupted sweep
// in `folder` (empty: there is none) has begun one of them, the time that it began with holds.
// Errors are those of measuring, and kInterrupted between two
// measurements once `interrupted` (unless it is null); a cell that cannot be built keeps none, and
// says why when it is run.
absl::Status MeasureGradients(const std::string& folder, DatasetCache* data,
                              const std::atomic<bool>* interrupted, const OnMeasured& on_measured,
                              std::vector<SweepCell>* cells);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SWEEP_SIMULATED_CELLS_H_
