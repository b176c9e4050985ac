// What the cells of a simulated sweep need besides the sweep: a runner, and the time of a gradient
// where it is not given.
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

// Returns a runner that simulates a cell and may be called from several threads. It shares data
// sets through `data`. `data` must outlive the runner, and so must `interrupted`, unless it is
// null.
CellRunner SimulatedCells(DatasetCache* data, const std::atomic<bool>* interrupted);

// Called with a cell for which a gradient was measured, and its time as a value of --compute.
using OnMeasured = std::function<void(const SweepCell& cell, const std::string& time)>;

// Sets --compute of the cells that learn and have none to the time of their gradient on this
// machine. It is measured once for all cells that share a model, its data and a batch. If an
// interrupted sweep in `folder` (empty: no such sweep) has begun one of these cells, the time that
// it began with holds. Errors are those of measuring, and kInterrupted between two measurements
// once `interrupted` (unless it is null). A cell that cannot be built gets no time, and says why
// when it is run.
absl::Status MeasureGradients(const std::string& folder, DatasetCache* data,
                              const std::atomic<bool>* interrupted, const OnMeasured& on_measured,
                              std::vector<SweepCell>* cells);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SWEEP_SIMULATED_CELLS_H_
