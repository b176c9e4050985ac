// The k entries of a vector with the largest magnitudes: the payload of sparse messages.
//
// Magnitudes are compared as the bits of |x|: 0 and -0 are equal, denormals count (and are not
// flushed), NaN is above infinity, so that receivers notice a diverged run. Among equal magnitudes
// the lower index is taken. The selection is therefore unique, and the same on every backend.
//
// The magnitude of the k-th entry is found digit by digit from the highest, by counting (radix
// selection). A round counts, by their next digit, the entries that agree with the threshold so
// far; this gives the threshold's digit, and the number of larger entries. Three digits are 31
// bits. In the end, all entries above the threshold are taken, and `wanted` of those that equal
// it.
//
// Thread-safety: pure functions over the caller's memory.
#ifndef GRAPEVINE_KERNELS_CODEC_TOP_K_H_
#define GRAPEVINE_KERNELS_CODEC_TOP_K_H_

#include <bit>
#include <cstdint>

#include "kernels/passes/instruction_set.h"

namespace grapevine {

// Writes exactly k indices, in ascending order, and the values at these indices, bit for bit.
// Requires 0 <= k <= size < 2^32.
void TopK(const float* vector, int64_t size, int64_t k, uint32_t* indices, float* values);

inline constexpr int kDigitRounds = 3;
inline constexpr int kDigits = 2048;  // values of a digit, 11 bits but for the last

// Returns the key by which entries are compared.
GRAPEVINE_ELEMENTWISE uint32_t MagnitudeKey(float value) {
  return std::bit_cast<uint32_t>(value) & 0x7fffffff;
}

// Returns the lowest bit of a round's digit: 20, 9 and 0.
GRAPEVINE_ELEMENTWISE int DigitShift(int round) { return round == 2 ? 0 : 20 - 11 * round; }

// The threshold as far as it has been found.
struct TopKThreshold {
  uint32_t key = 0;     // the digits found so far, then zeros
  uint32_t wanted = 0;  // entries still to take among those that agree with these digits
};

// Returns whether a key has the digits that were found before `round`.
GRAPEVINE_ELEMENTWISE bool IsCandidate(uint32_t key, const TopKThreshold& threshold, int round) {
  return round == 0 || (key ^ threshold.key) >> (DigitShift(round - 1)) == 0;
}

GRAPEVINE_ELEMENTWISE uint32_t DigitOf(uint32_t key, int round) {
  return key >> DigitShift(round) & (round == 2 ? 511 : kDigits - 1);
}

// Returns the threshold after a round that found `digit`; `above` candidates had a higher digit.
GRAPEVINE_ELEMENTWISE TopKThreshold WithDigit(const TopKThreshold& threshold, int round,
                                              uint32_t digit, uint32_t above) {
  return {threshold.key | digit << DigitShift(round), threshold.wanted - above};
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CODEC_TOP_K_H_
