#include "kernels/codec/top_k.h"

#include <glog/logging.h>

#include <array>

namespace grapevine {
namespace {

using Counts = std::array<uint32_t, kDigits>;

// Returns the threshold with the digit of one more round. Requires threshold.wanted > 0.
TopKThreshold FindDigit(const float* vector, int64_t size, const TopKThreshold& threshold,
                        int round) {
  Counts counts = {};
  for (int64_t i = 0; i < size; ++i) {
    const uint32_t key = MagnitudeKey(vector[i]);
    if (IsCandidate(key, threshold, round)) ++counts[DigitOf(key, round)];
  }
  uint32_t digit = kDigits - 1, above = 0;
  while (above + counts[digit] < threshold.wanted) above += counts[digit--];
  return WithDigit(threshold, round, digit, above);
}

}  // namespace

void TopK(const float* vector, int64_t size, int64_t k, uint32_t* indices, float* values) {
  CHECK(0 <= k && k <= size && size < int64_t{1} << 32) << k << " of " << size;
  if (k == 0) return;
  TopKThreshold threshold{.key = 0, .wanted = static_cast<uint32_t>(k)};
  for (int round = 0; round < kDigitRounds; ++round) {
    threshold = FindDigit(vector, size, threshold, round);
  }
  uint32_t equal = 0;
  int64_t taken = 0;
  for (int64_t i = 0; taken < k; ++i) {
    const uint32_t key = MagnitudeKey(vector[i]);
    if (key > threshold.key || (key == threshold.key && equal++ < threshold.wanted)) {
      indices[taken] = static_cast<uint32_t>(i);
      values[taken++] = vector[i];
    }
  }
}

}  // namespace grapevine
