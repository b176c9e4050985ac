// NumPy's .npy files: a header, which describes the elements of an array, and the elements.
//
// A file consists of "\x93NUMPY", two bytes of version, the header's length (2 bytes in version 1,
// 4 in later ones), the header as the text of a Python dictionary, and the elements in C order.
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Errors carry Failure::kInput, begin with the `name` that the caller gives the file, and say what
// to do in NumPy. Thread-safety: pure functions.
#ifndef GRAPEVINE_MODEL_DATASETS_NPY_H_
#define GRAPEVINE_MODEL_DATASETS_NPY_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

struct NpyHeader {
  std::string type;       // as NumPy writes it: "<f4"
  char kind = 0;          // 'b' for booleans; 'i', 'u' or 'f' for numbers
  int64_t item_size = 0;  // bytes of an element: 1, 2, 4 or 8
  bool swapped = false;   // whether the byte order is not this machine's
  std::vector<int64_t> shape;
  int64_t count = 0;  // number of elements, the product of the shape; at least 1
};

// Reads the next `size` bytes; fewer only at the end.
using ReadBytes = std::function<absl::StatusOr<std::vector<uint8_t>>(int64_t size)>;

// Reads the header and leaves the file at the first element. Refuses elements that are not numbers,
// Fortran order, empty arrays and absurdly large ones.
absl::StatusOr<NpyHeader> ReadNpyHeader(std::string_view name, const ReadBytes& read);

// Passes all elements to `take`, part by part, in this machine's byte order; no element is split.
// Refuses a file that has fewer or more elements. Only one part is in memory at a time.
absl::Status ReadNpyElements(std::string_view name, const NpyHeader& header, const ReadBytes& read,
                             const std::function<absl::Status(std::span<const uint8_t>)>& take);

// Returns a shape as Python writes it: "(60000, 28, 28)".
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_NPY_H_
