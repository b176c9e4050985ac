#include "kernels/vector/shared_vector.h"

#include <sys/mman.h>

#include <cstdlib>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "system/mutex.h"

namespace grapevine {

SharedVector NewSharedVector(int64_t size) {
  constexpr size_t kLine = 64;
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t wanted = static_cast<size_t>(size) * sizeof(float);
  const size_t alignment = wanted >= 2 * kHugePage ? kHugePage : kLine;
  const size_t bytes = (wanted + kLine - 1) / kLine * kLine;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, bytes == 0 ? kLine : bytes) != 0) throw std::bad_alloc();
  // A hint. If the kernel refuses it, the vector only costs more page faults.
  if (alignment == kHugePage) (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return {std::shared_ptr<float[]>(static_cast<float*>(memory), [](float* p) { std::free(p); }),
          size};
}

struct VectorPool::State {
  mutable Mutex mutex;
  std::map<int64_t, std::vector<std::shared_ptr<float[]>>> idle ABSL_GUARDED_BY(mutex);
  int64_t bytes ABSL_GUARDED_BY(mutex) = 0;
};

VectorPool::VectorPool()
    : VectorPool([](int64_t size, std::string_view) { return NewSharedVector(size); }) {}

VectorPool::VectorPool(AllocateVector allocate)
    : allocate_(std::move(allocate)), state_(std::make_shared<State>()) {}

SharedVector VectorPool::Take(int64_t size, std::string_view what) {
  std::shared_ptr<float[]> memory;
  {
    MutexLock lock(state_->mutex);
    auto& idle = state_->idle[size];
    if (!idle.empty()) {
      memory = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (memory == nullptr) memory = Allocate(size, what);
  if (memory == nullptr) return {nullptr, size};
  float* const data = memory.get();
  // The returned owner hands the memory back to the pool if the pool still exists.
  auto give_back = [memory = std::move(memory), size,
                    pool = std::weak_ptr<State>(state_)](float*) mutable {
    if (const std::shared_ptr<State> state = pool.lock()) {
      MutexLock lock(state->mutex);
      state->idle[size].push_back(std::move(memory));
    }
  };
  return {std::shared_ptr<float[]>(data, std::move(give_back)), size};
}

std::shared_ptr<float[]> VectorPool::Allocate(int64_t size, std::string_view what) {
  std::shared_ptr<float[]> memory = allocate_(size, what).data;
  if (memory == nullptr) return memory;
  MutexLock lock(state_->mutex);
  state_->bytes += size * static_cast<int64_t>(sizeof(float));
  return memory;
}

int64_t VectorPool::bytes() const {
  MutexLock lock(state_->mutex);
  return state_->bytes;
}

}  // namespace grapevine
