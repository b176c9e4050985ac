#include "tests/emulated_cuda/numbers.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <bit>
#include <cstdint>
#include <cstdlib>

#include "tests/emulated_cuda/runtime.h"

namespace emulated_cuda {

size_t BytesOf(cudaDataType_t type) { return type == CUDA_R_32F ? 4 : 2; }

bool IsOperand(cudaDataType_t type, const void* memory, size_t count) {
  constexpr uintptr_t kAlignment = 16;
  return reinterpret_cast<uintptr_t>(memory) % kAlignment == 0 &&
         Reaches(memory, count * BytesOf(type));
}

std::vector<float> Read(cudaDataType_t type, const void* from, size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    switch (type) {
      case CUDA_R_32F:
        values[i] = static_cast<const float*>(from)[i];
        break;
      case CUDA_R_16F:
        values[i] = __half2float(static_cast<const __half*>(from)[i]);
        break;
      case CUDA_R_16BF:
        values[i] = __bfloat162float(static_cast<const __nv_bfloat16*>(from)[i]);
        break;
      default:
        std::abort();
    }
  }
  return values;
}

void Write(const std::vector<float>& values, cudaDataType_t type, void* to) {
  for (size_t i = 0; i < values.size(); ++i) {
    switch (type) {
      case CUDA_R_32F:
        static_cast<float*>(to)[i] = values[i];
        break;
      case CUDA_R_16F:
        static_cast<__half*>(to)[i] = __float2half_rn(values[i]);
        break;
      case CUDA_R_16BF:
        static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16_rn(values[i]);
        break;
      default:
        std::abort();
    }
  }
}

void RoundToTf32(std::vector<float>* values) {
  constexpr uint32_t kDropped = 0x1fff;
  for (float& value : *values) {
    if (value != value) continue;
    const auto bits = std::bit_cast<uint32_t>(value);
    value = std::bit_cast<float>((bits + kDropped / 2 + (bits >> 13 & 1)) & ~kDropped);
  }
}

}  // namespace emulated_cuda
