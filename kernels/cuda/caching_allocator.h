// Device memory that is reused instead of being freed: cudaMalloc and cudaFree wait for the
// whole device.
//
// Sizes, zero included, are rounded up to multiples of kGranule; a returned buffer serves the next
// request of its rounded size. The caller must not return memory that a stream may still use: the
// last use must have been recorded and have passed.
//
// Memory comes from a MemorySource: cudaMalloc, pinned host memory, or a test's source.
#ifndef GRAPEVINE_KERNELS_CUDA_CACHING_ALLOCATOR_H_
#define GRAPEVINE_KERNELS_CUDA_CACHING_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  // Allocates `bytes`. ResourceExhausted if that much memory is not available.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes) = 0;
  virtual void Free(void* memory) = 0;
};

// Thread-safe.
class CachingAllocator {
 public:
  static constexpr int64_t kGranule = 512;

  // `source` must outlive the allocator and all its buffers.
  explicit CachingAllocator(MemorySource* source);
  // Frees the cached buffers. Buffers in use are freed when they are returned.
  ~CachingAllocator();

  // Returns a buffer of at least `bytes`, which goes back to the cache when its last holder drops
  // it. If the source is exhausted, the cached buffers are freed and the source is asked again; if
  // this fails too, the error says `what` the memory was for, and how much is in use.
  absl::StatusOr<std::shared_ptr<void>> Take(int64_t bytes, std::string_view what);

  // Frees the cached buffers.
  void Trim();

  int64_t bytes_in_use() const;
  int64_t bytes_cached() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CACHING_ALLOCATOR_H_
