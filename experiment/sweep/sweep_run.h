// Carries out the cells of a sweep on all cores, and says how long each takes beside the
// others.
//
// Cells that differ in nothing but a graph that plays no part, of an allreduce or a
// parameter server, are simulated once and share the result. Every other cell has its own
// run directory below the sweep's; those that share have the first one's. A cell that an
// earlier, interrupted sweep finished with the same configuration is kept.
#ifndef GRAPEVINE_EXPERIMENT_SWEEP_SWEEP_RUN_H_
#define GRAPEVINE_EXPERIMENT_SWEEP_SWEEP_RUN_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"

namespace grapevine {

// Above 0, in proportion to the work of all its rounds: messages, and gradients that are
// computed. Of cells of one sweep, which have model and data in common; a cell that cannot
// be costs next to nothing. Pure.
double CellCost(const Config& config);

struct SweepRunOptions {
  std::string directory;  // exists
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;
  // Of a cell, and of those that share its result, once there is one; from one thread at a
  // time. `seconds` is what it took on its thread.
  std::function<void(const std::vector<size_t>& cells, double seconds)> on_done;
};

// The cells of each simulation, as indices: the first is the one that is simulated, unless
// its graph does not exist. Ascending.
std::vector<std::vector<size_t>> SharedCells(const std::vector<SweepCell>& cells);

// In the order of `cells`. A cell's error is its own; where the sweep was
// interrupted, the cells that were not finished have kInterrupted.
std::vector<absl::StatusOr<Summary>> RunSweep(const std::vector<SweepCell>& cells,
                                              const SweepRunOptions& options);

// The run directory of a cell.
std::string CellDirectory(const std::string& sweep, const SweepCell& cell);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SWEEP_SWEEP_RUN_H_
