#include "kernels/vector/finite_tensors.h"

#include <algorithm>
#include <cmath>

namespace grapevine {

std::string FirstNonFinite(const ReplicaLayout& layout, const float* vector) {
  for (const auto* tensors : {&layout.parameters, &layout.buffers}) {
    for (const TensorView& tensor : *tensors) {
      const float* const begin = vector + tensor.offset;
      if (!std::all_of(begin, begin + tensor.size, [](float x) { return std::isfinite(x); })) {
        return tensor.name;
      }
    }
  }
  return "";
}

}  // namespace grapevine
