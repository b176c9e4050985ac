// IDX files, plain or compressed with gzip: the format of MNIST and its relatives.
//
// Big-endian: two zero bytes, the element type (0x08: unsigned bytes), the number
// of dimensions, each dimension in 4 bytes, then the elements.
// http://yann.lecun.com/exdb/mnist/
#ifndef GRAPEVINE_MODEL_DATASETS_IDX_H_
#define GRAPEVINE_MODEL_DATASETS_IDX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"

namespace grapevine {

struct IdxArray {
  std::vector<int64_t> shape;
  std::vector<uint8_t> elements;
};

// Reads an array of unsigned bytes with `dimensions` dimensions. Errors carry
// Failure::kInput and name the file, what was expected and what was found.
absl::StatusOr<IdxArray> ReadIdx(const std::string& path, int64_t dimensions);

// Reads a folder with MNIST's four files under their standard names, each plain or with .gz. Images
// may have any size, which is the same in both parts; there are 10 classes.
absl::StatusOr<TrainTest> ReadMnist(const std::string& folder);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATASETS_IDX_H_
