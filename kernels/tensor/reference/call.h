// Plain references of the tensor operations: loops over (n, c, h, w) that read like the formula,
// for any arithmetic type. Finite differences check them in double; in fp32, the fast layers are
// compared with them.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_CALL_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_CALL_H_

#include <cstdint>
#include <vector>

#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// The operands of an operation. Tensors are plain nchw.
template <typename T>
struct ReferenceCall {
  Mode mode = Mode::kTraining;
  std::vector<TensorShape> shapes;  // shapes of the inputs
  std::vector<std::vector<T>> inputs;
  std::vector<T> replica;
};

// The gradients of the operands, parallel to ReferenceCall. The replica's buffer section holds the
// batch's statistics, as in a layer's gradient vector.
template <typename T>
struct ReferenceGradient {
  std::vector<std::vector<T>> inputs;
  std::vector<T> replica;

  explicit ReferenceGradient(const ReferenceCall<T>& call) : replica(call.replica.size()) {
    for (const std::vector<T>& input : call.inputs) inputs.emplace_back(input.size());
  }
};

inline int64_t Index(const TensorShape& s, int64_t n, int64_t c, int64_t h, int64_t w) {
  return ((n * s.c + c) * s.h + h) * s.w + w;
}

// Calls body(n, c, h, w) for every element of `shape`, in nchw order.
template <typename Body>
void ForEachElement(const TensorShape& shape, const Body& body) {
  for (int64_t n = 0; n < shape.n; ++n) {
    for (int64_t c = 0; c < shape.c; ++c) {
      for (int64_t h = 0; h < shape.h; ++h) {
        for (int64_t w = 0; w < shape.w; ++w) body(n, c, h, w);
      }
    }
  }
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_CALL_H_
