// A pseudo-random permutation of 0..n-1 whose values are computed one at a time.
//
// A permutation of few values is shuffled directly, which is exactly uniform. One of many values
// goes through a Feistel network over the next power of two, with round functions keyed by (seed,
// purpose, a); values that fall outside 0..n-1 walk on along their cycle (Black and Rogaway,
// "Ciphers with arbitrary finite domains", 2002). This takes constant time and memory. (Over few
// values such a network is visibly uneven.)
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_KEYED_PERMUTATION_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_KEYED_PERMUTATION_H_

#include <cstdint>
#include <vector>

#include "random/keyed_random.h"

namespace grapevine {

class KeyedPermutation {
 public:
  // 1 <= n < 2^32.
  KeyedPermutation(uint32_t n, uint64_t seed, Purpose purpose, uint64_t a);

  // Image and Preimage are inverses of each other. Both take a value below n.
  uint32_t Image(uint32_t value) const;
  uint32_t Preimage(uint32_t value) const;

 private:
  // Changes one half of the value by a function of the other half; its own inverse.
  uint32_t Pass(uint32_t value, int pass) const;

  const uint32_t n_;
  const int low_bits_;
  const int high_bits_;
  const uint64_t seed_;
  const Purpose purpose_;
  const uint64_t a_;
  std::vector<uint8_t> images_;  // all images, for few values; otherwise empty
};

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_KEYED_PERMUTATION_H_
