// Copies of memory that say where the result goes.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_PASSES_COPY_H_
#define GRAPEVINE_KERNELS_PASSES_COPY_H_

#include <cstddef>

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

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_COPY_H_
