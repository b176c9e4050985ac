// The JSON header of a safetensors file, read in one pass.
//
// What it takes grows with its length alone: nothing is kept but names, types and
// extents, and nesting is bounded. Unknown fields of a tensor are passed over.
#ifndef GRAPEVINE_MODEL_FILES_SAFETENSORS_HEADER_H_
#define GRAPEVINE_MODEL_FILES_SAFETENSORS_HEADER_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

struct SafetensorsHeader {
  struct Tensor {
    std::string name;
    std::string dtype;             // "F32"; empty if the header has none
    std::vector<int64_t> shape;    // not negative, 64 at most
    std::vector<int64_t> offsets;  // not negative, two
  };

  std::map<std::string, std::string> metadata;
  std::vector<Tensor> tensors;  // in the order of the header, each name once
};

// Errors are InvalidArgument, say what is wrong, and quote no more than a part of
// a long name. Pure function, safe from any thread.
absl::StatusOr<SafetensorsHeader> ParseSafetensorsHeader(std::string_view text);

// A tensor's name for a message: cut, unprintable bytes escaped.
std::string ShownName(std::string_view name);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_FILES_SAFETENSORS_HEADER_H_
