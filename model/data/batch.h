// A batch of labelled images, its memory, and the interface of objects that provide batches.
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
  // Returns memory that is aligned for any number type; never null.
  virtual void* Allocate(size_t bytes) = 0;
  virtual void Release(void* memory) = 0;
  // Returns a copy of `memory` on the device that reads batches. Returns null if batches are read
  // from this memory itself, or if the device has no room.
  virtual std::shared_ptr<const DeviceCopy> Upload(const void* memory, size_t bytes) {
    return nullptr;
  }
};

// An allocator for vectors. A vector keeps its kind of memory when it is moved. Elements added by a
// resize are uninitialized.
template <typename T>
class BatchAllocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;
  using is_always_equal = std::false_type;

  BatchAllocator() = default;
  // If `memory` is null, the allocator uses ordinary memory.
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

// The extents of one image.
struct ImageShape {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 0;

  int64_t size() const { return height * width * channels; }
  friend bool operator==(const ImageShape&, const ImageShape&) = default;
};

// A batch of images, which are fp32, normalized, and channels last: (size, height, width,
// channels).
struct Batch {
  int64_t size = 0;
  BatchVector images;
  std::vector<int32_t> labels;
  // A copy of these images on a device, or null. Code that writes to `images` must reset it.
  std::shared_ptr<const DeviceCopy> on_device = nullptr;
};

// Provides the batches of a stream of rounds. Thread-compatible.
class BatchSource {
 public:
  virtual ~BatchSource() = default;

  virtual ImageShape shape() const = 0;
  virtual int64_t classes() const = 0;
  virtual int64_t batch_size() const = 0;
  // Writes the batch of `round`, a function of (seed, node, round) alone, into `batch`. Reuses the
  // memory of `batch` or exchanges it. Errors are those of the files behind the batches.
  virtual absl::Status Fill(int64_t round, Batch* batch) = 0;

  // Replaces the samples of a node. The source finishes the pass that is under way at the beginning
  // of the round `from`, and then goes through `shard`. Earlier rounds stay as they are. Does
  // nothing in sources that do not belong to a node.
  virtual void DealAgain(int64_t from, std::vector<int32_t> shard) {}
};

// Pinned host memory. A device copies the images of a batch from it asynchronously, while it
// computes on the previous batch.
class PinnedBatchMemory final : public BatchMemory {
 public:
  // `device` must outlive this object.
  explicit PinnedBatchMemory(Device* device) : device_(device) {}

  // Returns ordinary memory, which costs an additional copy, if no more can be pinned.
  void* Allocate(size_t bytes) override;
  void Release(void* memory) override;
  // Copies on a stream of this object, which no copy may outlive. Returns null from the first
  // failure on.
  std::shared_ptr<const DeviceCopy> Upload(const void* memory, size_t bytes) override;

 private:
  absl::StatusOr<std::shared_ptr<const DeviceCopy>> Queue(const void* memory, size_t bytes)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Device* const device_;
  Mutex mutex_;
  bool uploads_ahead_ ABSL_GUARDED_BY(mutex_) = true;
  std::unique_ptr<DeviceStream> uploads_ ABSL_GUARDED_BY(mutex_);  // null before the first upload
  std::map<void*, std::shared_ptr<void>> given_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_BATCH_H_
