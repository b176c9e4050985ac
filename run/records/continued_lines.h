// The metrics.jsonl of a run that goes on from an earlier round than it had got to.
#ifndef GRAPEVINE_RUN_RECORDS_CONTINUED_LINES_H_
#define GRAPEVINE_RUN_RECORDS_CONTINUED_LINES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

// The lines of rounds until `round`. No file: none. Errors name the file and the line.
absl::StatusOr<std::vector<std::string>> ReadLinesUntil(const std::string& path, int64_t round);

// Removes the others from the file, and what a killed process has not written to its end; returns
// those that stay.
absl::StatusOr<std::vector<std::string>> KeepLinesUntil(const std::string& path, int64_t round);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_CONTINUED_LINES_H_
