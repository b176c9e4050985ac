// All measurements of runs in one table, for spreadsheets and statistics programs.
//
// Safe from any thread; reads the runs' files.
#ifndef GRAPEVINE_REPORT_MEASUREMENTS_H_
#define GRAPEVINE_REPORT_MEASUREMENTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/table.h"

namespace grapevine {

// Returns a line for each line of each run's metrics.jsonl, in their order, with the run, what
// distinguishes it, and every field under the name and in the unit that it has there; a field that
// was not measured is empty. `runs` are run directories, or folders of them. Errors are kUsage or
// kInput.
absl::StatusOr<std::string> MeasurementsText(const std::vector<std::string>& runs,
                                             TableFormat format);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_MEASUREMENTS_H_
