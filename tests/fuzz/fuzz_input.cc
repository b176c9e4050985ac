#include "tests/fuzz/fuzz_input.h"

#include <glog/logging.h>
#include <sys/mman.h>
#include <unistd.h>

namespace grapevine::fuzz {

InputFile::InputFile(const uint8_t* data, size_t size)
    : descriptor_(memfd_create("input", MFD_CLOEXEC)),
      path_("/proc/self/fd/" + std::to_string(descriptor_.get())) {
  for (size_t written = 0; written < size;) {
    const ssize_t more = write(descriptor_.get(), data + written, size - written);
    PCHECK(more > 0);
    written += static_cast<size_t>(more);
  }
}

void RequireClass(const absl::Status& status, Failure failure) {
  CHECK(!status.ok());
  CHECK(!status.message().empty());
  CHECK(FailureOf(status) == failure) << status;
}

}  // namespace grapevine::fuzz
