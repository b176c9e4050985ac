#include "kernels/tensor/cpu/passes.h"

#include <algorithm>
#include <cstring>

namespace grapevine {
namespace {

struct AddTermKernel {
  GRAPEVINE_INLINE static void Run(float* sum, const float* term, int64_t size) {
    for (int64_t i = 0; i < size; ++i) sum[i] += term[i];
  }
};

struct MaskKernel {
  GRAPEVINE_INLINE static void Run(const float* y, float* gradient, int64_t size) {
    for (int64_t i = 0; i < size; ++i) gradient[i] = y[i] > 0 ? gradient[i] : 0.0f;
  }
};

struct ReluKernel {
  GRAPEVINE_INLINE static void Run(const float* x, float* y, int64_t size) {
    for (int64_t i = 0; i < size; ++i) y[i] = x[i] < 0 ? 0.0f : x[i];
  }
};

template <bool kRelu>
struct AddKernel {
  GRAPEVINE_INLINE static void Run(const float* a, const float* b, float* y, int64_t size) {
    for (int64_t i = 0; i < size; ++i) {
      const float sum = a[i] + b[i];
      y[i] = kRelu && sum < 0 ? 0.0f : sum;
    }
  }
};

// One block of channels at one position. It is a vector of the compiler rather than an array that
// loops run over, because accumulators must stay in registers.
typedef float Lanes __attribute__((vector_size(kLanes * sizeof(float))));

GRAPEVINE_INLINE Lanes Load(const float* p) {
  Lanes lanes;
  std::memcpy(&lanes, p, sizeof(lanes));
  return lanes;
}
GRAPEVINE_INLINE void Store(float* p, const Lanes& lanes) { std::memcpy(p, &lanes, sizeof(lanes)); }

// Positions in one piece: 16 KiB of a tensor.
constexpr int64_t kPiece = 256;
// The number of sums that run side by side, to hide the latency of an addition.
constexpr int64_t kParallel = 4;

// Calls body(offset, positions) for every piece of block `b`.
template <typename Body>
GRAPEVINE_INLINE void ForEachPiece(const ChannelBlocks& blocks, int64_t b, const Body& body) {
  for (int64_t n = 0; n < blocks.samples; ++n) {
    const int64_t start = n * blocks.sample_stride + b * blocks.block_stride;
    for (int64_t p = 0; p < blocks.positions; p += kPiece) {
      body(start + p * blocks.position_stride, std::min(kPiece, blocks.positions - p));
    }
  }
}

// sum <- the sum over a piece; term(offset, &sum) adds the term at `offset`.
template <typename Term>
GRAPEVINE_INLINE void SumPiece(int64_t offset, int64_t positions, int64_t stride, const Term& term,
                               Lanes* sum) {
  Lanes partial[kParallel] = {};
  int64_t p = 0;
  for (; p + kParallel <= positions; p += kParallel) {
    for (int64_t k = 0; k < kParallel; ++k) term(offset + (p + k) * stride, &partial[k]);
  }
  for (; p < positions; ++p) term(offset + p * stride, &partial[0]);
  *sum = (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

struct MomentsKernel {
  GRAPEVINE_INLINE static void Run(const ChannelBlocks& blocks, const float* x, float* mean,
                                   float* deviation) {
    for (int64_t b = 0; b < blocks.blocks; ++b) {
      RunBlock(blocks, b, x, mean + b * kLanes, deviation + b * kLanes);
    }
  }

  GRAPEVINE_INLINE static void RunBlock(const ChannelBlocks& blocks, int64_t b, const float* x,
                                        float* mean, float* deviation) {
    double total_mean[kLanes] = {};
    double total_deviation[kLanes] = {};
    double seen = 0;
    const int64_t stride = blocks.position_stride;
    ForEachPiece(
        blocks, b, [&](int64_t offset, int64_t positions) __attribute__((always_inline)) {
          Lanes sum;
          SumPiece(
              offset, positions, stride,
              [&](int64_t at, Lanes * s) __attribute__((always_inline)) { *s += Load(x + at); },
              &sum);
          const Lanes piece_mean = sum / static_cast<float>(positions);
          Lanes squares;
          SumPiece(
              offset, positions, stride,
              [&](int64_t at, Lanes * s) __attribute__((always_inline)) {
                const Lanes d = Load(x + at) - piece_mean;
                *s += d * d;
              },
              &squares);
          const double count = static_cast<double>(positions);
          const double share = count / (seen + count);
          for (int64_t l = 0; l < kLanes; ++l) {
            const double delta = static_cast<double>(piece_mean[l]) - total_mean[l];
            total_mean[l] += delta * share;
            total_deviation[l] += static_cast<double>(squares[l]) + delta * delta * seen * share;
          }
          seen += count;
        });
    for (int64_t l = 0; l < kLanes; ++l) {
      mean[l] = static_cast<float>(total_mean[l]);
      deviation[l] = static_cast<float>(total_deviation[l]);
    }
  }
};

template <bool kShortcut, bool kRelu>
struct NormalizeKernel {
  GRAPEVINE_INLINE static void Run(const ChannelBlocks& blocks, const NormalizePass& pass) {
    const int64_t stride = blocks.position_stride;
    for (int64_t b = 0; b < blocks.blocks; ++b) {
      const Lanes scale = Load(pass.scale + b * kLanes);
      const Lanes shift = Load(pass.shift + b * kLanes);
      ForEachPiece(
          blocks, b, [&](int64_t offset, int64_t positions) __attribute__((always_inline)) {
            for (int64_t p = 0; p < positions; ++p) {
              const int64_t at = offset + p * stride;
              Lanes y = Load(pass.x + at) * scale + shift;
              if constexpr (kShortcut) y += Load(pass.shortcut + at);
              if constexpr (kRelu) y = y < 0 ? Lanes{} : y;  // keeps a NaN
              Store(pass.y + at, y);
            }
          });
    }
  }
};

template <bool kRelu, bool kTwo>
struct GradientSumsKernel {
  GRAPEVINE_INLINE static void Run(const ChannelBlocks& blocks, const GradientPass& pass,
                                   float* sum_g, float* dot) {
    for (int64_t b = 0; b < blocks.blocks; ++b) {
      RunBlock(blocks, b, pass, sum_g + b * kLanes, dot + b * kLanes);
    }
  }

  GRAPEVINE_INLINE static void RunBlock(const ChannelBlocks& blocks, int64_t b,
                                        const GradientPass& pass, float* sum_g, float* dot) {
    double total_g[kLanes] = {};
    double total_dot[kLanes] = {};
    const Lanes mean = Load(pass.mean + b * kLanes);
    const int64_t stride = blocks.position_stride;
    ForEachPiece(
        blocks, b, [&](int64_t offset, int64_t positions) __attribute__((always_inline)) {
          Lanes g_sum[2] = {};
          Lanes dots[2] = {};
          const auto add = [&](int64_t at, int k) __attribute__((always_inline)) {
            Lanes g = Load(pass.dy + at);
            if constexpr (kTwo) g += Load(pass.dy2 + at);
            if constexpr (kRelu) g = Load(pass.y + at) > 0 ? g : Lanes{};
            if constexpr (kTwo || kRelu) Store(pass.dy + at, g);
            g_sum[k] += g;
            dots[k] += g * (Load(pass.x + at) - mean);
          };
          int64_t p = 0;
          for (; p + 2 <= positions; p += 2) {
            add(offset + p * stride, 0);
            add(offset + (p + 1) * stride, 1);
          }
          if (p < positions) add(offset + p * stride, 0);
          const Lanes g_total = g_sum[0] + g_sum[1];
          const Lanes dot_total = dots[0] + dots[1];
          for (int64_t l = 0; l < kLanes; ++l) {
            total_g[l] += static_cast<double>(g_total[l]);
            total_dot[l] += static_cast<double>(dot_total[l]);
          }
        });
    for (int64_t l = 0; l < kLanes; ++l) {
      sum_g[l] = static_cast<float>(total_g[l]);
      dot[l] = static_cast<float>(total_dot[l]);
    }
  }
};

struct InputGradientKernel {
  GRAPEVINE_INLINE static void Run(const ChannelBlocks& blocks, const InputGradientPass& pass) {
    const int64_t stride = blocks.position_stride;
    for (int64_t block = 0; block < blocks.blocks; ++block) {
      const Lanes mean = Load(pass.mean + block * kLanes);
      const Lanes a = Load(pass.a + block * kLanes);
      const Lanes b = Load(pass.b + block * kLanes);
      const Lanes c = Load(pass.c + block * kLanes);
      ForEachPiece(
          blocks, block, [&](int64_t offset, int64_t positions) __attribute__((always_inline)) {
            for (int64_t p = 0; p < positions; ++p) {
              const int64_t at = offset + p * stride;
              Store(pass.dx + at, a * Load(pass.g + at) + (b * (Load(pass.x + at) - mean) + c));
            }
          });
    }
  }
};

}  // namespace

void SumInto(float* sum, std::span<float* const> terms, int64_t size, InstructionSet set) {
  for (const float* term : terms) RunKernel<AddTermKernel>(set, sum, term, size);
}

void MaskByOutput(const float* y, float* gradient, int64_t size, InstructionSet set) {
  RunKernel<MaskKernel>(set, y, gradient, size);
}

void ReluInto(const float* x, float* y, int64_t size, InstructionSet set) {
  RunKernel<ReluKernel>(set, x, y, size);
}

void AddInto(const float* a, const float* b, bool relu, float* y, int64_t size,
             InstructionSet set) {
  if (relu) return RunKernel<AddKernel<true>>(set, a, b, y, size);
  RunKernel<AddKernel<false>>(set, a, b, y, size);
}

std::optional<ChannelBlocks> BlocksOf(const TensorFormat& format) {
  const TensorShape& s = format.shape;
  const int64_t blocks = (s.c + kLanes - 1) / kLanes;
  const int64_t area = s.area();
  if (format.layout == Layout::kNchw16c) {
    return ChannelBlocks{s.n, blocks, area, blocks * area * kLanes, area * kLanes, kLanes};
  }
  if (format.layout == Layout::kNhwc && s.c % kLanes == 0) {
    return ChannelBlocks{s.n, blocks, area, area * s.c, kLanes, s.c};
  }
  return std::nullopt;
}

void ChannelMoments(const ChannelBlocks& blocks, const float* x, float* mean, float* deviation,
                    InstructionSet set) {
  RunKernel<MomentsKernel>(set, blocks, x, mean, deviation);
}

void Normalize(const ChannelBlocks& blocks, const NormalizePass& pass, InstructionSet set) {
  if (pass.shortcut != nullptr) {
    if (pass.relu) return RunKernel<NormalizeKernel<true, true>>(set, blocks, pass);
    return RunKernel<NormalizeKernel<true, false>>(set, blocks, pass);
  }
  if (pass.relu) return RunKernel<NormalizeKernel<false, true>>(set, blocks, pass);
  RunKernel<NormalizeKernel<false, false>>(set, blocks, pass);
}

void GradientSums(const ChannelBlocks& blocks, const GradientPass& pass, float* sum_g, float* dot,
                  InstructionSet set) {
  const bool two = pass.dy2 != nullptr;
  if (pass.y != nullptr) {
    if (two) return RunKernel<GradientSumsKernel<true, true>>(set, blocks, pass, sum_g, dot);
    return RunKernel<GradientSumsKernel<true, false>>(set, blocks, pass, sum_g, dot);
  }
  if (two) return RunKernel<GradientSumsKernel<false, true>>(set, blocks, pass, sum_g, dot);
  RunKernel<GradientSumsKernel<false, false>>(set, blocks, pass, sum_g, dot);
}

void InputGradient(const ChannelBlocks& blocks, const InputGradientPass& pass, InstructionSet set) {
  RunKernel<InputGradientKernel>(set, blocks, pass);
}

}  // namespace grapevine
