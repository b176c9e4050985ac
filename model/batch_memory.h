// The memory in which the images of a batch lie: ordinary memory, or the kind from
// which a device copies fastest (pinned pages, for a GPU).
#ifndef GRAPEVINE_MODEL_BATCH_MEMORY_H_
#define GRAPEVINE_MODEL_BATCH_MEMORY_H_

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace grapevine {

// A kind of memory that the processor can read and write. A constant that outlives
// all batches; its functions are called from any thread.
struct BatchMemory {
  void* (*allocate)(size_t bytes);  // aligned for any number; never null
  void (*release)(void* memory, size_t bytes);
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
  explicit BatchAllocator(const BatchMemory* memory) : memory_(memory) {}
  template <typename U>
  BatchAllocator(const BatchAllocator<U>& other) : memory_(other.memory()) {}

  T* allocate(size_t n) {
    if (memory_ == nullptr) return std::allocator<T>().allocate(n);
    return static_cast<T*>(memory_->allocate(n * sizeof(T)));
  }
  void deallocate(T* values, size_t n) {
    if (memory_ == nullptr) return std::allocator<T>().deallocate(values, n);
    memory_->release(values, n * sizeof(T));
  }
  template <typename U>
  void construct(U* value) {
    ::new (static_cast<void*>(value)) U;
  }
  template <typename U, typename Argument>
  void construct(U* value, Argument&& argument) {
    ::new (static_cast<void*>(value)) U(std::forward<Argument>(argument));
  }

  const BatchMemory* memory() const { return memory_; }
  template <typename U>
  friend bool operator==(const BatchAllocator& a, const BatchAllocator<U>& b) {
    return a.memory() == b.memory();
  }

 private:
  const BatchMemory* memory_ = nullptr;
};

using BatchVector = std::vector<float, BatchAllocator<float>>;

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_BATCH_MEMORY_H_
