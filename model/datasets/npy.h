// NumPy's .npy files: a header, which says what an array's elements are, and the elements.
//
// "\x93NUMPY", two bytes of version, the header's length (2 bytes in version 1, 4 since), a Python
// dictionary in text, the elements in C order.
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
  char kind = 0;          // 'b': boolean, 'i', 'u', 'f': number
  int64_t item_size = 0;  // bytes of an element: 1, 2, 4 or 8
  bool swapped = false;   // in the other byte order than this machine's
  std::vector<int64_t> shape;
  int64_t count = 0;  // elements: the product of the shape, at least 1
};

// Reads up to `size` of the next bytes; fewer only at the end.
using ReadBytes = std::function<absl::StatusOr<std::vector<uint8_t>>(int64_t size)>;

// Leaves the file at the first element. Refuses elements that are no numbers, Fortran's order,
// empty arrays and absurd ones.
absl::StatusOr<NpyHeader> ReadNpyHeader(std::string_view name, const ReadBytes& read);

// Hands all elements, whole ones, to `take`, some at a time; of this machine's byte order. Refuses
// a file that has fewer or more. Memory is that of one part.
absl::Status ReadNpyElements(std::string_view name, const NpyHeader& header, const ReadBytes& read,
                             const std::function<absl::Status(std::span<const uint8_t>)>& take);

// "(60000, 28, 28)", as Python writes a shape.
std::string ShapeText(const std::vector<int64_t>& shape);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_NPY_H_
