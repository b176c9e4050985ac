// Shared, 64-byte aligned float memory, the storage behind every vector, and a pool of it.
//
// A buffer lives as long as anybody holds it: the algorithm through its driver, and the
// transport for bytes that have not left yet.
#ifndef GRAPEVINE_KERNELS_VECTOR_SHARED_VECTOR_H_
#define GRAPEVINE_KERNELS_VECTOR_SHARED_VECTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

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

// The source of vectors: uninitialized elements, or no data if memory is exhausted. Errors say
// `what` it was for: "the gradient".
using AllocateVector = std::function<SharedVector(int64_t size, std::string_view what)>;

// Vectors that are reused instead of being freed and faulted in again. Thread-safe. They may
// outlive the pool: then the last holder frees them.
class VectorPool {
 public:
  // On the CPU.
  VectorPool();
  explicit VectorPool(AllocateVector allocate);

  // An uninitialized vector of `size` elements, reused or new; no data where `allocate` had
  // none.
  SharedVector Take(int64_t size, std::string_view what);

  // Bytes in vectors that are in use or waiting to be reused.
  int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<float[]> Allocate(int64_t size, std::string_view what);

  const AllocateVector allocate_;
  std::shared_ptr<State> state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_SHARED_VECTOR_H_
