// Memory of the emulated GPU, and pinned memory: part of the emulation of CUDA (README.md).
//
// Allocations are filled with NaNs. Each ends at an inaccessible page, or less than kAlignment
// bytes before it; the unused rest of its pages is checked when it is freed.
//
// Callers hold the device's lock (runtime.h).
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_MEMORY_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_MEMORY_H_

#include <cstddef>
#include <map>

namespace emulated_cuda {

enum class MemoryKind { kPageable, kPinned, kDevice };

class Memory {
 public:
  // What cudaMalloc promises.
  static constexpr size_t kAlignment = 256;

  // Null if `limit` bytes of device memory would be exceeded.
  void* Allocate(MemoryKind kind, size_t bytes, size_t limit);
  // False if `memory` was not allocated as this kind.
  bool Free(MemoryKind kind, void* memory);

  // The kind of the byte at `address`.
  MemoryKind KindOf(const void* address) const;
  // Whether all of it is of one kind and, if it is allocated here, of one allocation.
  bool Holds(const void* begin, size_t bytes) const;

  size_t device_bytes() const { return device_bytes_; }

 private:
  struct Allocation {
    MemoryKind kind;
    size_t bytes;
    char* mapping;
    size_t mapped;  // without the guard page behind
  };

  const std::pair<const char* const, Allocation>* Find(const void* address) const;

  std::map<const char*, Allocation> allocations_;  // by their first byte
  size_t device_bytes_ = 0;
};

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_MEMORY_H_
