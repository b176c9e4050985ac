// Runs the cells of a sweep, real or simulated, and estimates the relative cost of simulated ones.
//
// Cells that differ only in a graph that plays no part (of an allreduce or a parameter server)
// are run once and share the result. Every other cell has its own run directory below the
// sweep's; cells that share a result use the first one's. A cell that an earlier, interrupted
// sweep finished with the same configuration is kept, unless a file that it names has been written
// since the cell began.
#ifndef GRAPEVINE_EXPERIMENT_SWEEP_SWEEP_RUN_H_
#define GRAPEVINE_EXPERIMENT_SWEEP_SWEEP_RUN_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "run/config/sweep_cells.h"
#include "run/records/metrics.h"

namespace grapevine {

// Returns the relative cost of a cell, above 0: proportional to the work of all its rounds,
// messages and computed gradients. Comparable among simulated cells that share model and data; a
// cell that cannot be built costs next to nothing. Pure.
double CellCost(const Config& config);

// Runs a configuration, whose `out` is its folder, and returns the results.
using CellRunner = std::function<absl::StatusOr<Summary>(const Config& config)>;

struct SweepRunOptions {
  std::string directory;  // must exist
  CellRunner run;         // called from `threads` threads at a time
  int threads = 1;        // 1: only the thread of the caller
  const std::atomic<bool>* interrupted = nullptr;
  // Called when a cell, and those that share its result, are done; from one thread at a time.
  // `seconds` is the time that the cell took on its thread; 0 if an earlier sweep had finished it.
  std::function<void(const std::vector<size_t>& cells, double seconds)> on_done;
};

// Returns the cells that share a run, as ascending indices. The first one is run, unless its graph
// does not exist.
std::vector<std::vector<size_t>> SharedCells(const std::vector<SweepCell>& cells);

// Runs the sweep. The results are in the order of `cells`. Each cell has its own error; if the
// sweep was interrupted, unfinished cells have kInterrupted.
std::vector<absl::StatusOr<Summary>> RunSweep(const std::vector<SweepCell>& cells,
                                              const SweepRunOptions& options);

// Returns the run directory of a cell.
std::string CellDirectory(const std::string& sweep, const SweepCell& cell);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SWEEP_SWEEP_RUN_H_
