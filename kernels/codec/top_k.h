// The k entries of a vector that are largest in magnitude: what sparse messages carry.
//
// Magnitudes are compared as the bits of |x|: 0 and -0 are equal, denormals count (and
// are not flushed), NaN is above infinity, so that a run that diverged is seen to by
// whom it is sent to. Of equal magnitudes the lower index is taken. The selection is
// thus unique, and the same on every backend.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CODEC_TOP_K_H_
#define GRAPEVINE_KERNELS_CODEC_TOP_K_H_

#include <cstdint>

namespace grapevine {

// Writes exactly k indices, ascending, and the values there, bit for bit.
// 0 <= k <= size < 2^32.
void TopK(const float* vector, int64_t size, int64_t k, uint32_t* indices, float* values);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CODEC_TOP_K_H_
