// The parts that `grapevine sim` and `grapevine train` share if lists make a sweep.
#ifndef GRAPEVINE_CLI_COMMANDS_SWEEP_COMMAND_H_
#define GRAPEVINE_CLI_COMMANDS_SWEEP_COMMAND_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/sweep/sweep_run.h"
#include "run/config/sweep_cells.h"

namespace grapevine {

// The paragraph on lists at the end of a command's help.
inline constexpr char kListHelp[] =
    "Lists make a sweep, one run for each combination of values separated by commas, as in\n"
    "--lr=0.05,0.1 --nodes=4,8. Every setting that says what is run may be a list; not --slow,\n"
    "time-outs, files and logs. A comma that belongs to a value is written \\,. The same command\n"
    "with the same --out resumes a sweep that was interrupted.\n";

// Builds the first cell that can be built: a grid may hold graphs that some numbers of nodes do not
// have. Returns the first error if no cell can be built.
absl::StatusOr<std::unique_ptr<Experiment>> BuildFirst(const std::vector<SweepCell>& cells,
                                                       DatasetCache* data);

// Refuses checkpoints in a sweep. Only a run by itself has them, and goes on where it was; a sweep
// repeats the cells that it has not finished.
absl::Status CheckCheckpoints(const std::vector<SweepCell>& cells);

// Refuses --momentum and --weight-decay on the command line where no cell's optimizer uses them.
absl::Status CheckSettingsMatter(const std::vector<SweepCell>& cells);

// Checks, before anything is measured or computed, that the files have a place: that of a run for
// one cell, that of a sweep for several. Several cells refuse settings of a single run, such as
// --trace.
absl::Status CheckOutput(const std::vector<SweepCell>& cells);

// Runs the cells in `options.directory`, tells of the progress (`live`: on one line), writes the
// sweep's tables and prints one. `options.interrupted` must not be null; `options.on_done` is set
// here. Errors say how many cells failed, and why the first did; or, if the sweep was interrupted,
// how to go on.
absl::Status CarryOutCells(const std::vector<SweepCell>& cells, SweepRunOptions options, bool live);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_SWEEP_COMMAND_H_
