// CRC-32C (Castagnoli; RFC 3720, section 12.1): the checksum of vectors on the wire, computed
// alone or while copying; and copies without a checksum. Every copy says where its result goes.
//
// The checksum uses the processor's CRC and carry-less multiplication instructions if they exist
// (three interleaved streams hide the instruction's latency), tables otherwise.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_PASSES_CRC32C_H_
#define GRAPEVINE_KERNELS_PASSES_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace grapevine {

inline constexpr size_t kCacheLine = 64;  // bytes

// The place to which the result of a copy goes.
enum class CopyTo {
  kCache,   // the result is read again soon
  kMemory,  // the result is too large to stay in a cache, and would only evict other data
};

// Copies `size` bytes. The ranges must not overlap. A copy to memory bypasses the caches if the
// processor can, so that it need not first read what it overwrites; other threads see the result
// like that of any copy.
void Copy(CopyTo where, void* to, const void* from, size_t size);

// Returns the CRC of some bytes followed by data[0, size). `crc` is the CRC of those first bytes,
// or 0 without any.
uint32_t Crc32c(uint32_t crc, const void* data, size_t size);

// Copies `size` bytes and returns Crc32c(crc, from, size), in one pass over memory. The ranges
// must not overlap.
uint32_t CopyAndCrc32c(CopyTo where, uint32_t crc, void* to, const void* from, size_t size);

// Returns what Crc32c returns, computed from tables alone: the reference for tests.
uint32_t PortableCrc32c(uint32_t crc, const void* data, size_t size);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_CRC32C_H_
