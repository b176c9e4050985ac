// Device memory that is reused instead of being freed: cudaMalloc and cudaFree wait for the
// whole device.
//
// Sizes, zero included, are rounded up to kGranule; a returned buffer serves the next request
// of its rounded size. The caller must not return memory that a stream may still use: only once
// its last use has been recorded and has passed.
//
// Where the memory comes from is a MemorySource: cudaMalloc, pinned host memory, or a
// test's.
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
  // ResourceExhausted when there is not that much.
  virtual absl::StatusOr<void*> Allocate(int64_t bytes) = 0;
  virtual void Free(void* memory) = 0;
};

// Thread-safe.
class CachingAllocator {
 public:
  static constexpr int64_t kGranule = 512;

  // The source outlives the allocator and all its buffers.
  explicit CachingAllocator(MemorySource* source);
  // Frees what is cached; buffers in use are freed when they are returned.
  ~CachingAllocator();

  // At least `bytes`, returned when the last holder drops it. When the source is exhausted,
  // what is cached is freed and the source asked again; if that fails, too, the error names
  // `what` the memory was for, and how much is in use.
  absl::StatusOr<std::shared_ptr<void>> Take(int64_t bytes, std::string_view what);

  // Frees what is cached.
  void Trim();

  int64_t bytes_in_use() const;
  int64_t bytes_cached() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CACHING_ALLOCATOR_H_
