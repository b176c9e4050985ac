// The folder of a sweep: a run directory for each cell, and tables of all cells.
//
//   sweep.textproto   the sweep: its lists, and the first cell's configuration;
//                     marks the folder
//   sweep.csv         one line per cell
//   sweep.txt         the same for people
//   LABEL/            the run directory of a cell
//   run.lock          while it runs: who writes it (run_directory.h)
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

// Whether CreateSweepDirectory would succeed, for a dry run; touches nothing.
absl::Status CheckSweepDirectory(const std::vector<SweepCell>& cells);

// Creates --out of the cells (at least one), or a fresh "runs/TIME-sweep", and locks it. An
// existing path is refused while another process writes it, and unless it is an empty folder, the
// same sweep's, or another's that --overwrite replaces: then that one's cells, those of its
// marker's lists, and its tables are removed, and nothing else: no other run beside them, and
// nothing that a link leads to. --overwrite is refused where a link has the name of a cell.
absl::StatusOr<LockedFolder> CreateSweepDirectory(const std::vector<SweepCell>& cells,
                                                  absl::Time now);

// The labels of the cells of the sweep in this folder, in the order of its lists; none if it holds
// no sweep, or one of which that cannot be told.
std::vector<std::string> CellLabels(const std::string& sweep);

std::string SweepCsvPath(const std::string& sweep);
absl::Status WriteSweepTables(const std::string& sweep, const std::string& csv,
                              const std::string& text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_
