// What `grapevine sim` and `grapevine train` have in common where lists make a sweep.
#ifndef GRAPEVINE_CLI_COMMANDS_SWEEP_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_SWEEP_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_problem.h"
#include "run/config/sweep_cells.h"
#include "run/records/metrics.h"

namespace grapevine {

// For the end of a command's help.
inline constexpr char kListHelp[] =
    "Lists make a sweep, one run for each combination of values separated by commas, as in\n"
    "--lr=0.05,0.1 --nodes=4,8. Every setting of the experiment may be a list; not --slow,\n"
    "--device, --precision, time-outs, files and logs. A comma that belongs to a value is\n"
    "written \\,. The same command with the same --out resumes a sweep that was interrupted.\n";

// Builds the first cell that can be built: a grid may hold graphs that some numbers of nodes do
// not have. The first error if there is none.
absl::StatusOr<std::unique_ptr<Experiment>> BuildFirst(const std::vector<SweepCell>& cells,
                                                       DatasetCache* data);

// Whether there is a place for the files, before anything is measured or computed: a run's for one
// cell, a sweep's for several, which refuse what is of one run, such as --trace.
absl::Status CheckOutput(const std::vector<SweepCell>& cells);

// Writes the tables of a sweep that was run in `folder` and prints one. Errors say how many cells
// failed, and why the first did; or, if the sweep was interrupted, how to go on.
absl::Status ConcludeSweep(const std::vector<SweepCell>& cells,
                           const std::vector<absl::StatusOr<Summary>>& summaries,
                           const std::string& folder, bool interrupted);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_SWEEP_COMMAND_H_
