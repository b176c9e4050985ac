#include "kernels/vector/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace grapevine {

SharedVector NewSharedVector(int64_t size) {
  constexpr size_t kLine = 64;
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t wanted = static_cast<size_t>(size) * sizeof(float);
  const size_t alignment = wanted >= 2 * kHugePage ? kHugePage : kLine;
  const size_t bytes = (wanted + kLine - 1) / kLine * kLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? kLine : bytes) != 0) throw std::bad_alloc();
  // A hint; where the kernel refuses it the vector only costs more page faults.
  if (alignment == kHugePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return {std::shared_ptr<float[]>(static_cast<float*>(memory), [](float* p) { std::free(p); }),
          size};
}

}  // namespace grapevine
