// In what a network computes on a GPU. Replicas, gradients and sums are fp32 in all.
#ifndef GRAPEVINE_KERNELS_TENSOR_PRECISION_H_
#define GRAPEVINE_KERNELS_TENSOR_PRECISION_H_

#include <optional>
#include <string_view>

namespace grapevine {

enum class Precision {
  kFp32,
  kTf32,  // products of fp32 by tensor cores, which keep 10 bits of each factor
  kBf16,  // activations and the weights that products read
  kFp16,  // likewise, with a scaled loss
};

// "fp32", "tf32", "bf16", "fp16"; none for another name.
inline std::optional<Precision> PrecisionNamed(std::string_view name) {
  if (name == "fp32") return Precision::kFp32;
  if (name == "tf32") return Precision::kTf32;
  if (name == "bf16") return Precision::kBf16;
  if (name == "fp16") return Precision::kFp16;
  return std::nullopt;
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_PRECISION_H_
