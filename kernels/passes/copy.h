// Copies of bytes that say where their result belongs.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_PASSES_COPY_H_
#define GRAPEVINE_KERNELS_PASSES_COPY_H_

#include <cstddef>

namespace grapevine {

enum class CopyTo {
  kCache,   // it is read again soon
  kMemory,  // it is too large to stay in a cache: what it would take the place of stays
};

// The ranges must not overlap. A copy to memory writes past the caches where the processor
// can, so that it need not read first what it overwrites; other threads see it as any copy.
void Copy(CopyTo where, void* to, const void* from, size_t size);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_COPY_H_
