// Files that a command leaves, written whole or not at all.
#ifndef GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
#define GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace grapevine {

// The same status as one of Failure::kOutput; OK stays OK.
absl::Status AsOutputStatus(absl::Status status);

// Written aside, fsynced, renamed. Errors are kOutput and name the path.
absl::Status WriteOutputFile(const std::string& path, std::string_view bytes);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_OUTPUT_FILE_H_
