// The bits of a number: equal to the last one is more than equal.
#ifndef GRAPEVINE_TESTS_KERNELS_BITS_H_
#define GRAPEVINE_TESTS_KERNELS_BITS_H_

#include <bit>
#include <cstdint>

namespace grapevine {

inline uint32_t Bits(float value) { return std::bit_cast<uint32_t>(value); }

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_KERNELS_BITS_H_
