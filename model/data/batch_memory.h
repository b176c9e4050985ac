// The memory in which the images of a batch lie: ordinary memory, or the kind from
// which a device copies fastest (pinned pages, for a GPU).
#ifndef GRAPEVINE_MODEL_DATA_BATCH_MEMORY_H_
#define GRAPEVINE_MODEL_DATA_BATCH_MEMORY_H_

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/device/device_copy.h"

namespace grapevine {

// A kind of memory that the processor can read and write. Thread-safe; outlives all
// batches.
class BatchMemory {
 public:
  virtual ~BatchMemory() = default;
  // Aligned for any number; never null.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Release(void* memory) = 0;
  // A copy of what `memory` holds, where what reads batches computes; null where it reads
  // this memory itself, or there is no room.
  virtual std::shared_ptr<const DeviceCopy> Upload(const void* memory, size_t bytes) {
    return nullptr;
  }
};

// The allocator of a vector whose memory is of some kind and moves along with it.
// Elements that a resize adds are not set.
template <typename T>
class BatchAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  BatchAllocator() = default;
  // Null is ordinary memory.
  explicit BatchAllocator(BatchMemory* memory) : memory_(memory) {}
  template <typename U>
  BatchAllocator(const BatchAllocator<U>& other) : memory_(other.memory()) {}

  T* allocate(size_t n) {
    if (memory_ == nullptr) return std::allocator<T>().allocate(n);
    return static_cast<T*>(memory_->Allocate(n * sizeof(T)));
  }
  void deallocate(T* values, size_t n) {
    if (memory_ == nullptr) return std::allocator<T>().deallocate(values, n);
    memory_->Release(values);
  }
  template <typename U>
  void construct(U* value) {
    ::new (static_cast<void*>(value)) U;
  }
  template <typename U, typename Argument>
  void construct(U* value, Argument&& argument) {
    ::new (static_cast<void*>(value)) U(std::forward<Argument>(argument));
  }

  BatchMemory* memory() const { return memory_; }
  template <typename U>
  friend bool operator==(const BatchAllocator& a, const BatchAllocator<U>& b) {
    return a.memory() == b.memory();
  }

 private:
  BatchMemory* memory_ = nullptr;
};

using BatchVector = std::vector<float, BatchAllocator<float>>;

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_BATCH_MEMORY_H_
