// Shared, 64-byte aligned float memory: the storage behind every vector.
//
// A buffer is alive while anybody holds it: the algorithm through its driver,
// and the transport for bytes that are still on their way.
#ifndef GRAPEVINE_KERNELS_VECTOR_ALIGNED_BUFFER_H_
#define GRAPEVINE_KERNELS_VECTOR_ALIGNED_BUFFER_H_

#include <cstdint>
#include <memory>
#include <span>

namespace grapevine {

// Reference-counted; copies share the memory. `size` is in elements.
struct SharedVector {
  std::shared_ptr<float[]> data;
  int64_t size = 0;

  std::span<float> span() const { return {data.get(), static_cast<size_t>(size)}; }
};

// Uninitialized; aligned to 64 bytes, and for large vectors to huge pages.
SharedVector NewSharedVector(int64_t size);

// A range of a shared vector, which it keeps alive. Offsets in elements.
struct SharedSlice {
  std::shared_ptr<float[]> owner;
  int64_t offset = 0;
  int64_t size = 0;

  float* begin() const { return owner.get() + offset; }
  int64_t bytes() const { return size * static_cast<int64_t>(sizeof(float)); }
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_ALIGNED_BUFFER_H_
