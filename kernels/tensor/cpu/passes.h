// The passes of our own over tensors: element-wise ones in any format, padding included, and
// those of batch normalization in blocks of 16 channels.
//
// Each pass walks memory once and fuses adjacent operations: ReLU, the addition of a shortcut,
// the sum of two gradients. Sums run in fp32 over pieces that fit the L1 cache and in double
// over the pieces, in a fixed order, so that every instruction set gives the same bits. ReLU
// keeps a NaN, so that a diverged run shows in its loss.
//
// Thread-safety: pure functions. Internal to kernels/tensor/.
#ifndef GRAPEVINE_KERNELS_TENSOR_CPU_PASSES_H_
#define GRAPEVINE_KERNELS_TENSOR_CPU_PASSES_H_

#include <cstdint>
#include <optional>
#include <span>

#include "kernels/passes/instruction_set.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// sum <- sum + terms, in their order.
void SumInto(float* sum, std::span<float* const> terms, int64_t size,
             InstructionSet set = BestInstructionSet());

// gradient <- 0 where y <= 0: ReLU's gradient, given its output.
void MaskByOutput(const float* y, float* gradient, int64_t size,
                  InstructionSet set = BestInstructionSet());

// y <- max(x, 0); y may be x.
void ReluInto(const float* x, float* y, int64_t size, InstructionSet set = BestInstructionSet());

// y <- a + b, then ReLU if requested.
void AddInto(const float* a, const float* b, bool relu, float* y, int64_t size,
             InstructionSet set = BestInstructionSet());

inline constexpr int64_t kLanes = 16;  // channels of a block

// Where a tensor's blocks of 16 channels lie, strides in elements: nChw16c, or
// nhwc with a multiple of 16 channels.
struct ChannelBlocks {
  int64_t samples = 0;
  int64_t blocks = 0;
  int64_t positions = 0;
  int64_t sample_stride = 0;
  int64_t block_stride = 0;
  int64_t position_stride = 0;

  int64_t lanes() const { return blocks * kLanes; }
  int64_t count() const { return samples * positions; }  // values per channel
};

// Empty if `format` has no such blocks.
std::optional<ChannelBlocks> BlocksOf(const TensorFormat& format);

// Mean and sum of squared deviations of each lane (Chan, Golub and LeVeque 1979).
void ChannelMoments(const ChannelBlocks& blocks, const float* x, float* mean, float* deviation,
                    InstructionSet set = BestInstructionSet());

// y = x * scale + shift, + shortcut if there is one, then ReLU if requested.
struct NormalizePass {
  const float* x = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  const float* shortcut = nullptr;
  float* y = nullptr;
  bool relu = false;
};
void Normalize(const ChannelBlocks& blocks, const NormalizePass& pass,
               InstructionSet set = BestInstructionSet());

// g is the gradient past the ReLU: dy (+ dy2), zero where y <= 0.
struct GradientPass {
  const float* x = nullptr;
  const float* y = nullptr;  // null: no ReLU
  float* dy = nullptr;
  const float* dy2 = nullptr;  // null: one consumer
  const float* mean = nullptr;
};
// sum_g = sum g and dot = sum g * (x - mean) of each lane. Writes g into dy.
void GradientSums(const ChannelBlocks& blocks, const GradientPass& pass, float* sum_g, float* dot,
                  InstructionSet set = BestInstructionSet());

// dx = a * g + b * (x - mean) + c, which may lie where g does.
struct InputGradientPass {
  const float* x = nullptr;
  const float* g = nullptr;
  const float* mean = nullptr;
  const float* a = nullptr;
  const float* b = nullptr;
  const float* c = nullptr;
  float* dx = nullptr;
};
void InputGradient(const ChannelBlocks& blocks, const InputGradientPass& pass,
                   InstructionSet set = BestInstructionSet());

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CPU_PASSES_H_
