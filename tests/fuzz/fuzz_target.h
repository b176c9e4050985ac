// A fuzz target: a function that plays one input, named after its folder of seeds; and what all
// targets share: the input as text and as a file, and the promises of every parser.
//
// A broken promise is a CHECK failure: a fuzzer sees an abort.
#ifndef GRAPEVINE_TESTS_FUZZ_FUZZ_TARGET_H_
#define GRAPEVINE_TESTS_FUZZ_FUZZ_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"
#include "system/file_descriptor.h"

namespace grapevine::fuzz {

using PlayInput = void (*)(const uint8_t* data, size_t size);

// Registers `play`, whose seeds are in corpus/`name`, before main.
struct Target {
  Target(const char* name, PlayInput play);
};

// Begins the target of that name: what follows is done with the input, `data` of `size`.
#define FUZZ_TARGET(name)                                            \
  void Play_##name(const uint8_t* data, size_t size);                \
  const ::grapevine::fuzz::Target target_##name(#name, Play_##name); \
  void Play_##name(const uint8_t* data, size_t size)

// The targets of this program, by name: all in the replay, one in a fuzzer.
const std::map<std::string, PlayInput>& Targets();

inline std::string_view Text(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A file in memory that exists as long as this object. Thread-compatible.
class InputFile {
 public:
  InputFile(const uint8_t* data, size_t size);

  const std::string& path() const { return path_; }

 private:
  UniqueDescriptor descriptor_;
  std::string path_;
};

// Requires an error of the class that the header promises, with a message.
void RequireClass(const absl::Status& status, Failure failure);

}  // namespace grapevine::fuzz

#endif  // GRAPEVINE_TESTS_FUZZ_FUZZ_TARGET_H_
