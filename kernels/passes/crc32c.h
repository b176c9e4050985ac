// CRC-32C (Castagnoli; RFC 3720, section 12.1): the checksum of vectors on the wire, computed
// alone or while copying; and copies without it, that say likewise where the result goes.
//
// The checksum uses the processor's CRC and carry-less multiplication instructions where it has
// them (three interleaved streams hide the instruction's latency), tables otherwise.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_PASSES_CRC32C_H_
#define GRAPEVINE_KERNELS_PASSES_CRC32C_H_

#include <cstddef>
#include <cstdint>

namespace grapevine {

inline constexpr size_t kCacheLine = 64;  // bytes

// Where the result of a copy goes.
enum class CopyTo {
  kCache,   // it is read again soon
  kMemory,  // it is too large to stay in a cache, and would only evict other data
};

// The ranges must not overlap. A copy to memory bypasses the caches where the processor can, so
// that it need not first read what it overwrites; other threads see it like any copy.
void Copy(CopyTo where, void* to, const void* from, size_t size);

// The CRC of some bytes with checksum `crc` (0 for none) followed by
// data[0, size).
uint32_t Crc32c(uint32_t crc, const void* data, size_t size);

// Copies size bytes and returns Crc32c(crc, from, size), in one pass over
// memory. The ranges must not overlap.
uint32_t CopyAndCrc32c(CopyTo where, uint32_t crc, void* to, const void* from, size_t size);

// The same checksum from tables: the reference for tests of Crc32c.
uint32_t PortableCrc32c(uint32_t crc, const void* data, size_t size);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_CRC32C_H_
