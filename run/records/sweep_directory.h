// The folder of a sweep: a run directory for each cell, and tables of them all.
//
//   sweep.textproto   what the sweep is: its lists, and the first cell's
//                     configuration; marks the folder
//   sweep.csv         a line a cell
//   sweep.txt         the same for people
//   LABEL/            the run directory of a cell
//
// A folder holds one sweep. The same one goes on in it; another takes its place
// only with --overwrite, and then nothing of the first stays.
//
// All errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_
#define GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "run/config/config.pb.h"
#include "run/config/config_resolve.h"

namespace grapevine {

// The first cell's configuration of the sweep that would go on in config.out(),
// if there is one: what it measured is worth keeping.
std::optional<Config> EarlierSweep(const Config& config);

// Whether CreateSweepDirectory would succeed, for a dry run: nothing is touched.
absl::Status CheckSweepDirectory(const std::vector<SweepCell>& cells);

// --out of the cells (at least one), or a fresh "runs/TIME-sweep". What exists
// is refused unless it is an empty folder, the same sweep's, or another's that
// --overwrite replaces: then its cells and tables are removed, and nothing else.
absl::StatusOr<std::string> CreateSweepDirectory(const std::vector<SweepCell>& cells,
                                                 absl::Time now);

std::string SweepCsvPath(const std::string& sweep);
absl::Status WriteSweepTables(const std::string& sweep, const std::string& csv,
                              const std::string& text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_SWEEP_DIRECTORY_H_
