// Arrays of bytes with a header, plain or compressed (model/datasets/idx.h).
#include "model/datasets/idx.h"

#include <glog/logging.h>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(idx) {
  const fuzz::InputFile file(data, size);
  for (const int64_t dimensions : {1, 3}) {
    const auto array = ReadIdx(file.path(), dimensions);
    if (!array.ok()) {
      fuzz::RequireClass(array.status(), Failure::kInput);
      continue;
    }
    CHECK_EQ(array->shape.size(), static_cast<size_t>(dimensions));
    size_t count = 1;
    for (const int64_t extent : array->shape) count *= static_cast<size_t>(extent);
    CHECK_GT(count, 0u);
    CHECK_EQ(array->elements.size(), count);
  }
}

}  // namespace
}  // namespace grapevine
