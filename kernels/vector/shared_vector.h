// Shared, 64-byte aligned float memory, the storage behind every vector, and a pool of it.
//
// A buffer lives as long as it has a holder: the algorithm, through its driver, or the transport,
// for bytes that have not left yet.
#ifndef GRAPEVINE_KERNELS_VECTOR_SHARED_VECTOR_H_
#define GRAPEVINE_KERNELS_VECTOR_SHARED_VECTOR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace grapevine {

// A vector in reference-counted memory. Copies share the memory. `size` is in elements.
struct SharedVector {
  std::shared_ptr<float[]> data;
  int64_t size = 0;

  std::span<float> span() const { return {data.get(), static_cast<size_t>(size)}; }
};

// Returns an uninitialized vector of `size` elements, aligned to 64 bytes, or to a huge page if it
// is large.
SharedVector NewSharedVector(int64_t size);

// A range of a shared vector. The slice keeps the vector alive. `offset` and `size` are in
// elements.
struct SharedSlice {
  std::shared_ptr<float[]> owner;
  int64_t offset = 0;
  int64_t size = 0;

  float* begin() const { return owner.get() + offset; }
  int64_t bytes() const { return size * static_cast<int64_t>(sizeof(float)); }
};

// The source of vectors. Returns an uninitialized vector, or one without data if memory is
// exhausted. `what` says in error messages what the memory was for: "the gradient".
using AllocateVector = std::function<SharedVector(int64_t size, std::string_view what)>;

// A pool of vectors that are reused instead of being freed and faulted in again. Vectors may
// outlive the pool; their last holder then frees them. Thread-safe.
class VectorPool {
 public:
  // A pool of CPU memory.
  VectorPool();
  explicit VectorPool(AllocateVector allocate);

  // Returns an uninitialized vector of `size` elements, reused or new. It has no data if `allocate`
  // returned none.
  SharedVector Take(int64_t size, std::string_view what);

  // Returns the bytes of all vectors that are in use or waiting to be reused.
  int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<float[]> Allocate(int64_t size, std::string_view what);

  const AllocateVector allocate_;
  std::shared_ptr<State> state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_SHARED_VECTOR_H_
