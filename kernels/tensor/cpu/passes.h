// Our own passes over tensors: element-wise passes in any format, padding included, and the passes
// of batch normalization in blocks of 16 channels.
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

// sum <- sum + the terms, added in the listed order.
void SumInto(float* sum, std::span<float* const> terms, int64_t size,
             InstructionSet set = BestInstructionSet());

// gradient <- 0 where y <= 0: the gradient of a ReLU, given its output y.
void MaskByOutput(const float* y, float* gradient, int64_t size,
                  InstructionSet set = BestInstructionSet());

// y <- max(x, 0); y may be x.
void ReluInto(const float* x, float* y, int64_t size, InstructionSet set = BestInstructionSet());

// y <- a + b, then ReLU if requested.
void AddInto(const float* a, const float* b, bool relu, float* y, int64_t size,
             InstructionSet set = BestInstructionSet());

inline constexpr int64_t kLanes = 16;  // channels of a block

// The places of a tensor's blocks of 16 channels, in nChw16c, or in nhwc with a multiple of 16
// channels. Strides are in elements.
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

// Returns the blocks of 16 channels of a tensor; nullopt if `format` has none.
std::optional<ChannelBlocks> BlocksOf(const TensorFormat& format);

// Computes the mean and the sum of squared deviations of each lane (Chan, Golub and LeVeque 1979).
void ChannelMoments(const ChannelBlocks& blocks, const float* x, float* mean, float* deviation,
                    InstructionSet set = BestInstructionSet());

// y = x * scale + shift, + shortcut unless it is null, then ReLU if requested.
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

// g, the gradient of the ReLU's input, is dy (+ dy2), and zero where y <= 0.
struct GradientPass {
  const float* x = nullptr;
  const float* y = nullptr;  // null without a ReLU
  float* dy = nullptr;
  const float* dy2 = nullptr;  // null with a single consumer
  const float* mean = nullptr;
};
// Computes sum_g = sum g and dot = sum g * (x - mean) of each lane. Writes g into dy.
void GradientSums(const ChannelBlocks& blocks, const GradientPass& pass, float* sum_g, float* dot,
                  InstructionSet set = BestInstructionSet());

// dx = a * g + b * (x - mean) + c. dx may be g.
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
