#include "kernels/passes/weighted_sum.h"

#include "kernels/passes/block_sum.h"

namespace grapevine {

namespace {

struct WeightedSumKernel {
  GRAPEVINE_INLINE static void Run(std::span<const WeightedVector> terms, int64_t size,
                                   float* out) {
    alignas(64) float block[kBlock];
    const BlockStore store(out, size, terms);
    for (int64_t offset = 0; offset < size;) {
      const int64_t length = store.BlockSize(offset, size);
      SumBlock(terms, offset, length, block);
      store.Store(block, offset, length);
      offset += length;
    }
  }
};

}  // namespace

void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out,
                 InstructionSet set) {
  RunKernel<WeightedSumKernel>(set, terms, size, out);
}

}  // namespace grapevine
