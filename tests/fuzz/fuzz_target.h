// A fuzz target: what plays an input, under the name of its folder of seeds. And what all
// of them share: the input as a text and as a file, and what every parser owes to whoever
// calls it.
//
// What is broken is CHECKed: a fuzzer sees an abort.
#ifndef GRAPEVINE_TESTS_FUZZ_FUZZ_TARGET_H_
#define GRAPEVINE_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/failure.h"
#include "system/file_descriptor.h"

namespace grapevine::fuzz {

using PlayInput = void (*)(const uint8_t* data, size_t size);

// Registers `play`, whose seeds are in corpus/`name`; before main.
struct Target {
  Target(const char* name, PlayInput play);
};

// Those of this program, by name: all in the replay, one in a fuzzer.
const std::map<std::string, PlayInput>& Targets();

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A file in memory, there as long as this object. Thread-compatible.
class InputFile {
 public:
  InputFile(const uint8_t* data, size_t size);

  const std::string& path() const { return path_; }

 private:
  UniqueDescriptor descriptor_;
  std::string path_;
};

// An error is of the class that the header promises, and says something.
void RequireClass(const absl::Status& status, Failure failure);

}  // namespace grapevine::fuzz

#endif  // GRAPEVINE_TESTS_FUZZ_FUZZ_TARGET_H_
