// Carries out the cells of a sweep on all cores.
//
// Every cell has its own run directory below the sweep's. A cell that an
// earlier, interrupted sweep finished with the same configuration is kept.
#ifndef GRAPEVINE_CLI_SWEEP_RUN_H_
#define GRAPEVINE_CLI_SWEEP_RUN_H_

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "run/summary.h"
#include "run/sweep.h"

namespace grapevine {

struct SweepRunOptions {
  std::string directory;  // exists
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;
  // After every cell, from one thread at a time.
  std::function<void(size_t done, size_t total)> on_progress;
};

// In the order of `cells`. A cell's error is its own; where the sweep was
// interrupted, the cells that were not finished have kInterrupted.
std::vector<absl::StatusOr<Summary>> RunSweep(const std::vector<SweepCell>& cells,
                                              const SweepRunOptions& options);

// The run directory of a cell.
std::string CellDirectory(const std::string& sweep, const SweepCell& cell);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_SWEEP_RUN_H_
