#include "topology/graphs/keyed_permutation.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

namespace grapevine {
namespace {

constexpr uint32_t kFew = 256;
constexpr int kPasses = 12;

int DomainBits(uint32_t n) { return std::bit_width(n - 1); }

}  // namespace

KeyedPermutation::KeyedPermutation(uint32_t n, uint64_t seed, Purpose purpose, uint64_t a)
    : n_(n),
      low_bits_(DomainBits(n) / 2),
      high_bits_(DomainBits(n) - low_bits_),
      seed_(seed),
      purpose_(purpose),
      a_(a) {
  if (n > kFew) return;
  images_.resize(n);
  std::iota(images_.begin(), images_.end(), 0);
  KeyedRandom(seed, purpose, a).Shuffle(std::span(images_));
}

uint32_t KeyedPermutation::Image(uint32_t value) const {
  if (!images_.empty()) return images_[value];
  do {
    for (int pass = 0; pass < kPasses; ++pass) value = Pass(value, pass);
  } while (value >= n_);
  return value;
}

uint32_t KeyedPermutation::Preimage(uint32_t value) const {
  if (!images_.empty()) {
    return static_cast<uint32_t>(std::find(images_.begin(), images_.end(), value) -
                                 images_.begin());
  }
  do {
    for (int pass = kPasses; pass-- > 0;) value = Pass(value, pass);
  } while (value >= n_);
  return value;
}

uint32_t KeyedPermutation::Pass(uint32_t value, int pass) const {
  const uint32_t low = value & ((1u << low_bits_) - 1);
  const uint32_t high = value >> low_bits_;
  if (pass % 2 == 0) {
    return value ^ static_cast<uint32_t>(Mix(seed_, purpose_, a_, pass, high) >> (64 - low_bits_));
  }
  return value ^ static_cast<uint32_t>(Mix(seed_, purpose_, a_, pass, low) >> (64 - high_bits_))
                     << low_bits_;
}

}  // namespace grapevine
