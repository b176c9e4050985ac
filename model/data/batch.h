// A batch of labelled images, its memory, and the interface that provides batches.
#ifndef GRAPEVINE_MODEL_DATA_BATCH_H_
#define GRAPEVINE_MODEL_DATA_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "system/mutex.h"

namespace grapevine {

// A kind of memory that the processor can read and write: ordinary memory, or the kind from which a
// device copies fastest (pinned pages, for a GPU). Thread-safe; outlives all batches.
class BatchMemory {
 public:
  virtual ~BatchMemory() = default;
  // Aligned for any number; never null.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Release(void* memory) = 0;
  // A copy of `memory` on the device that reads batches; null where batches are read in this
  // memory, or the device has no room.
  virtual std::shared_ptr<const DeviceCopy> Upload(const void* memory, size_t bytes) {
    return nullptr;
  }
};

// The allocator of a vector, which keeps its kind of memory when it is moved. Elements added by
// a resize are uninitialized.
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

// One image's extents.
struct ImageShape {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t size() const { return height * width * channels; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

// Images are fp32, normalized, channels last: (size, height, width, channels).
struct Batch {
  int64_t size = 0;
  BatchVector images;
  std::vector<int32_t> labels;
  // A device copy of these images; null: none. Code that writes images drops it.
  std::shared_ptr<const DeviceCopy> on_device = nullptr;
};

// Thread-compatible.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  virtual ImageShape shape() const = 0;
  virtual int64_t classes() const = 0;
  virtual int64_t batch_size() const = 0;
  // The batch of `round`: a function of (seed, node, round) alone. Reuses the
  // memory of `batch`, or exchanges it. Errors are those of the files behind it.
  virtual absl::Status Fill(int64_t round, Batch* batch) = 0;

  // A node's source has other samples from now on: once it is through with those that it has at the
  // beginning of the round `from`, it goes through `shard`. Rounds before stay as they are. Nothing
  // where batches are no node's.
  virtual void DealAgain(int64_t from, std::vector<int32_t> shard) {}
};

// Pinned host memory from which a device copies a batch's images asynchronously, while it
// computes on the previous batch.
class PinnedBatchMemory final : public BatchMemory {
 public:
  // `device` outlives it.
  explicit PinnedBatchMemory(Device* device) : device_(device) {}

  // Ordinary memory, at the cost of a copy, if no more can be pinned.
  void* Allocate(size_t bytes) override;
  void Release(void* memory) override;
  // On a stream of its own, which all copies must not outlive. None after the first failure.
  std::shared_ptr<const DeviceCopy> Upload(const void* memory, size_t bytes) override;

 private:
  absl::StatusOr<std::shared_ptr<const DeviceCopy>> Queue(const void* memory, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Device* const device_;
  Mutex mutex_;
  bool uploads_ahead_ ABSL_GUARDED_BY(mutex_) = true;
  std::unique_ptr<DeviceStream> uploads_ ABSL_GUARDED_BY(mutex_);  // null before the first
  std::map<void*, std::shared_ptr<void>> given_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_BATCH_H_
