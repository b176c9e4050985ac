// The reference of any operation, its fused ReLU included.
#ifndef GRAPEVINE_KERNELS_TENSOR_REFERENCE_OPERATION_H_
#define GRAPEVINE_KERNELS_TENSOR_REFERENCE_OPERATION_H_

#include <variant>
#include <vector>

#include "kernels/tensor/reference/call.h"
#include "kernels/tensor/reference/elementwise.h"
#include "kernels/tensor/reference/windows.h"

namespace grapevine {

template <typename AnOperation>
bool HasFusedRelu(const AnOperation& o) {
  if constexpr (requires { o.relu; }) return o.relu;
  return false;
}

inline TensorShape ReferenceShapeOf(const Operation& operation,
                                    const std::vector<TensorShape>& inputs) {
  return std::visit([&](const auto& o) { return ReferenceShape(o, inputs); }, operation);
}

template <typename T>
std::vector<T> RunReference(const Operation& operation, const ReferenceCall<T>& call) {
  return std::visit(
      [&](const auto& o) {
        std::vector<T> y = ReferenceForward(o, call);
        if (HasFusedRelu(o)) ReferenceRelu(&y);
        return y;
      },
      operation);
}

// Returns the gradient of sum(y * dy), where y is the operation's output.
template <typename T>
ReferenceGradient<T> RunReferenceBackward(const Operation& operation, const ReferenceCall<T>& call,
                                          std::vector<T> dy) {
  return std::visit(
      [&](const auto& o) {
        if (HasFusedRelu(o)) ReferenceReluBackward(ReferenceForward(o, call), &dy);
        return ReferenceBackward(o, call, dy);
      },
      operation);
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_REFERENCE_OPERATION_H_
