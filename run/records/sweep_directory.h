// The folder of a sweep: a run directory for each cell, and tables of all cells.
//
//   sweep.textproto   the sweep: its lists, and the first cell's configuration;
//                     marks the folder
//   sweep.csv         one line per cell
//   sweep.txt         the table of sweep.csv for people
//   LABEL/            the run directory of a cell
//   run.lock          while the sweep runs: the process that writes it (run_directory.h)
//
// A folder holds one sweep. The same sweep continues in it; a different one replaces it only with
// --overwrite, and then completely.
//
// All errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_
#define GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "run/config/config.pb.h"
#include "run/config/sweep_cells.h"
#include "run/records/run_directory.h"

namespace grapevine {

// Checks whether CreateSweepDirectory would succeed, for a dry run. Touches nothing.
absl::Status CheckSweepDirectory(const std::vector<SweepCell>& cells);

// Creates --out of the cells (at least one), or a fresh "runs/TIME-sweep", and locks it.
//
// Refuses an existing path while another process writes it. Otherwise an existing path must be an
// empty folder, the folder of the same sweep, or the folder of another sweep that --overwrite
// replaces. To replace a sweep removes its tables and the cells in the lists of its marker, and
// nothing else: neither other runs beside the cells nor anything that a link leads to. --overwrite
// is refused if a link has the name of a cell.
absl::StatusOr<LockedFolder> CreateSweepDirectory(const std::vector<SweepCell>& cells,
                                                  absl::Time now);

// Returns the labels of the cells of the sweep in this folder, in the order of its lists. Empty if
// the folder holds no sweep, or one whose cells cannot be determined.
std::vector<std::string> CellLabels(const std::string& sweep);

std::string SweepCsvPath(const std::string& sweep);
absl::Status WriteSweepTables(const std::string& sweep, const std::string& csv,
                              const std::string& text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_
