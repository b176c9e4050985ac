#include "tests/fuzz/fuzz_target.h"

#include <glog/logging.h>
#include <sys/mman.h>
#include <unistd.h>

namespace grapevine::fuzz {
namespace {

std::map<std::string, PlayInput>& Registered() {
  static std::map<std::string, PlayInput> targets;
  return targets;
}

}  // namespace

Target::Target(const char* name, PlayInput play) {
  CHECK(Registered().emplace(name, play).second) << name;
}

const std::map<std::string, PlayInput>& Targets() { return Registered(); }

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
