// The shared core of the fused passes: a block of a weighted sum, small enough to stay in the
// L1 cache, and how it is stored.
//
// A pass walks its vectors block by block, sums each block here, transforms it
// in place, and stores it. Sums of many vectors (a complete graph) thus read
// each vector once and write `out` once. As a block is summed before any of it
// is stored, `out` may be one of the terms.
//
// Internal to kernels/.
#ifndef GRAPEVINE_KERNELS_PASSES_BLOCK_SUM_H_
#define GRAPEVINE_KERNELS_PASSES_BLOCK_SUM_H_

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "kernels/passes/instruction_set.h"
#include "kernels/passes/mix_and_step.h"

namespace grapevine {

// Elements of a block. It is small, so that the reads of all vectors stay in flight together: a
// block of 4 KiB, read vector by vector, costs a third of the bandwidth.
inline constexpr int64_t kBlock = 128;

// block <- (block +) sum of kTerms terms at `offset`. The old block counts unless kFirst.
template <int kTerms, bool kFirst>
GRAPEVINE_INLINE void AddTerms(const WeightedVector* terms, int64_t offset, int64_t size,
                               float* __restrict block) {
  const float* v[kTerms];
  float w[kTerms];
  for (int k = 0; k < kTerms; ++k) {
    v[k] = terms[k].vector + offset;
    w[k] = terms[k].weight;
  }
  for (int64_t i = 0; i < size; ++i) {
    float sum = kFirst ? w[0] * v[0][i] : block[i] + w[0] * v[0][i];
    for (int k = 1; k < kTerms; ++k) sum += w[k] * v[k][i];
    block[i] = sum;
  }
}

template <bool kFirst>
GRAPEVINE_INLINE void AddUpToFour(std::span<const WeightedVector> terms, int64_t offset,
                                  int64_t size, float* __restrict block) {
  switch (terms.size()) {
    case 1:
      return AddTerms<1, kFirst>(terms.data(), offset, size, block);
    case 2:
      return AddTerms<2, kFirst>(terms.data(), offset, size, block);
    case 3:
      return AddTerms<3, kFirst>(terms.data(), offset, size, block);
    default:
      return AddTerms<4, kFirst>(terms.data(), offset, size, block);
  }
}

// block[0, size) <- the sum of terms[.][offset, offset + size), where size <= kBlock.
GRAPEVINE_INLINE void SumBlock(std::span<const WeightedVector> terms, int64_t offset, int64_t size,
                               float* __restrict block) {
  if (terms.empty()) {
    std::fill_n(block, size, 0.0f);
    return;
  }
  size_t done = std::min<size_t>(4, terms.size());
  AddUpToFour<true>(terms.first(done), offset, size, block);
  while (done < terms.size()) {
    const size_t next = std::min<size_t>(4, terms.size() - done);
    AddUpToFour<false>(terms.subspan(done, next), offset, size, block);
    done += next;
  }
}

// Stores blocks in `out`. Non-temporal stores save the read of a line that is about to be
// overwritten. This pays if `out` is too large to be found in the cache later and is not one of
// the inputs, whose lines are in the cache already.
class BlockStore {
 public:
  BlockStore(float* out, int64_t size, std::span<const WeightedVector> terms)
      : out_(out), streaming_(size >= kLarge && !Reads(terms, out)) {}
  ~BlockStore() {
#if defined(__SSE2__)
    if (streaming_) _mm_sfence();
#endif
  }
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;

  // Returns the number of elements of the block at `offset`. After a short first block, blocks
  // begin on a cache line of `out`.
  int64_t BlockSize(int64_t offset, int64_t size) const {
    const int64_t misaligned = reinterpret_cast<uintptr_t>(out_ + offset) % 64 / sizeof(float);
    return std::min(kBlock - misaligned, size - offset);
  }

  void Store(const float* block, int64_t offset, int64_t size) const {
    float* out = out_ + offset;
    int64_t i = 0;
#if defined(__SSE2__)
    if (streaming_ && reinterpret_cast<uintptr_t>(out) % 16 == 0) {
      for (; i + 4 <= size; i += 4) _mm_stream_ps(out + i, _mm_loadu_ps(block + i));
    }
#endif
    std::memcpy(out + i, block + i, static_cast<size_t>(size - i) * sizeof(float));
  }

 private:
  static constexpr int64_t kLarge = int64_t{1} << 20;  // elements: 4 MiB

  static bool Reads(std::span<const WeightedVector> terms, const float* out) {
    return std::any_of(terms.begin(), terms.end(),
                       [&](const WeightedVector& term) { return term.vector == out; });
  }

  float* out_;
  bool streaming_;
};

// out <- the sum of `mix`. Before a block of the sum is stored, rule(offset, size, block) is
// applied to it.
template <typename Rule>
struct MixKernel {
  GRAPEVINE_INLINE static void Run(std::span<const WeightedVector> mix, const Rule& rule,
                                   int64_t size, float* out) {
    alignas(64) float block[kBlock];
    const BlockStore store(out, size, mix);
    for (int64_t offset = 0; offset < size;) {
      const int64_t length = store.BlockSize(offset, size);
      SumBlock(mix, offset, length, block);
      rule(offset, length, block);
      store.Store(block, offset, length);
      offset += length;
    }
  }
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_BLOCK_SUM_H_
