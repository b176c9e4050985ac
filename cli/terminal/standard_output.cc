#include "cli/terminal/standard_output.h"

#include <cerrno>
#include <cstdio>
#include <iostream>

#include "run/records/output_file.h"

namespace grapevine {

absl::Status FlushStandardOutput() {
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int error = errno;
  if (flushed && std::ferror(stdout) == 0 && std::cout.flush()) return absl::OkStatus();
  // Of what failed before, the reason is gone.
  return AsOutputStatus(
      absl::ErrnoToStatus(error == 0 ? EIO : error, "cannot write to the standard output"));
}

}  // namespace grapevine
