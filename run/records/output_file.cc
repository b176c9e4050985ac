#include "run/records/output_file.h"

#include <utility>

#include "base/failure.h"
#include "system/atomic_file.h"

namespace grapevine {

absl::Status AsOutputStatus(absl::Status status) {
  return status.ok() ? status : WithFailure(std::move(status), Failure::kOutput);
}

absl::Status WriteOutputFile(const std::string& path, std::string_view bytes) {
  return AsOutputStatus(WriteFileAtomically(path, bytes));
}

}  // namespace grapevine
