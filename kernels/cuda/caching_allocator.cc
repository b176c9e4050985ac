#include "kernels/cuda/caching_allocator.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

struct CachingAllocator::State {
  explicit State(MemorySource* memory_source) : source(memory_source) {}

  // Takes a cached buffer of `bytes`; null if none is cached.
  void* Reuse(int64_t bytes) {
    MutexLock lock(mutex);
    const auto found = cached.find(bytes);
    if (found == cached.end()) return nullptr;
    void* const memory = found->second.back();
    found->second.pop_back();
    if (found->second.empty()) cached.erase(found);
    cached_bytes -= bytes;
    used_bytes += bytes;
    return memory;
  }

  absl::StatusOr<void*> Allocate(int64_t bytes) {
    ASSIGN_OR_RETURN(void* const memory, source->Allocate(bytes));
    MutexLock lock(mutex);
    used_bytes += bytes;
    return memory;
  }

  void GiveBack(void* memory, int64_t bytes) {
    {
      MutexLock lock(mutex);
      used_bytes -= bytes;
      if (!closed) {
        cached[bytes].push_back(memory);
        cached_bytes += bytes;
        return;
      }
    }
    source->Free(memory);
  }

  void Trim() {
    std::map<int64_t, std::vector<void*>> freed;
    {
      MutexLock lock(mutex);
      freed.swap(cached);
      cached_bytes = 0;
    }
    for (const auto& [bytes, buffers] : freed) {
      for (void* memory : buffers) source->Free(memory);
    }
  }

  MemorySource* const source;
  mutable Mutex mutex;
  std::map<int64_t, std::vector<void*>> cached ABSL_GUARDED_BY(mutex);  // buffers by rounded size
  int64_t cached_bytes ABSL_GUARDED_BY(mutex) = 0;
  int64_t used_bytes ABSL_GUARDED_BY(mutex) = 0;
  bool closed ABSL_GUARDED_BY(mutex) = false;
};

CachingAllocator::CachingAllocator(MemorySource* source)
    : state_(std::make_shared<State>(source)) {}

CachingAllocator::~CachingAllocator() {
  {
    MutexLock lock(state_->mutex);
    state_->closed = true;
  }
  state_->Trim();
}

absl::StatusOr<std::shared_ptr<void>> CachingAllocator::Take(int64_t bytes, std::string_view what) {
  const int64_t rounded = std::max<int64_t>(1, (bytes + kGranule - 1) / kGranule) * kGranule;
  void* memory = state_->Reuse(rounded);
  if (memory == nullptr) {
    absl::StatusOr<void*> fresh = state_->Allocate(rounded);
    if (absl::IsResourceExhausted(fresh.status())) {
      state_->Trim();
      fresh = state_->Allocate(rounded);
    }
    if (!fresh.ok()) {
      return absl::Status(
          fresh.status().code(),
          absl::StrCat("no memory for ", std::string(what), " (", bytes, " bytes, ", bytes_in_use(),
                       " in use): ", std::string(fresh.status().message())));
    }
    memory = *fresh;
  }
  return std::shared_ptr<void>(
      memory, [state = state_, rounded](void* held) { state->GiveBack(held, rounded); });
}

void CachingAllocator::Trim() { state_->Trim(); }

int64_t CachingAllocator::bytes_in_use() const {
  MutexLock lock(state_->mutex);
  return state_->used_bytes;
}

int64_t CachingAllocator::bytes_cached() const {
  MutexLock lock(state_->mutex);
  return state_->cached_bytes;
}

}  // namespace grapevine
