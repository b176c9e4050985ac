// The folder of a sweep: a run directory for each cell, and tables of them all.
//
//   sweep.textproto   the configuration of the first cell; marks the folder
//   sweep.csv         a line a cell
//   sweep.txt         the same for people
//   LABEL/            the run directory of a cell
//
// All errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_SWEEP_DIRECTORY_H_
#define GRAPEVINE_RUN_SWEEP_DIRECTORY_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "run/config.pb.h"

namespace grapevine {

// config.out(), or "runs/TIME-sweep". What exists is refused unless it is an
// empty folder or an earlier sweep's, which then goes on.
absl::StatusOr<std::string> PrepareSweepDirectory(const Config& config, absl::Time now);

std::string SweepCsvPath(const std::string& sweep);
absl::Status WriteSweepTables(const std::string& sweep, const std::string& csv,
                              const std::string& text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_SWEEP_DIRECTORY_H_
