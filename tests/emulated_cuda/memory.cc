#include "tests/emulated_cuda/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace emulated_cuda {
namespace {

constexpr size_t kPage = 4096;
constexpr int kFilling = 0xff;  // floats, halves and doubles of these bytes are NaNs

size_t RoundedUp(size_t bytes, size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

void* Memory::Allocate(MemoryKind kind, size_t bytes, size_t limit) {
  if (kind == MemoryKind::kDevice && (bytes > limit || device_bytes_ > limit - bytes)) {
    return nullptr;
  }
  const size_t reserved = RoundedUp(bytes, kAlignment);
  const size_t mapped = RoundedUp(reserved, kPage);
  void* const mapping = mmap(nullptr, mapped + kPage, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapping) + mapped - reserved;
  std::memset(mapping, kFilling, mapped);
  mprotect(begin + reserved, kPage, PROT_NONE);
  allocations_[begin] = {kind, bytes, static_cast<char*>(mapping), mapped};
  if (kind == MemoryKind::kDevice) device_bytes_ += bytes;
  return begin;
}

bool Memory::Free(MemoryKind kind, void* memory) {
  const auto found = allocations_.find(static_cast<char*>(memory));
  if (found == allocations_.end() || found->second.kind != kind) return false;
  const auto& [begin, allocation] = *found;
  const auto untouched = [](char byte) { return byte == static_cast<char>(kFilling); };
  if (!std::all_of<const char*>(allocation.mapping, begin, untouched) ||
      !std::all_of<const char*>(begin + allocation.bytes, allocation.mapping + allocation.mapped,
                                untouched)) {
    std::fprintf(stderr, "emulated CUDA: something wrote outside of %zu bytes\n", allocation.bytes);
    std::abort();
  }
  if (kind == MemoryKind::kDevice) device_bytes_ -= allocation.bytes;
  munmap(allocation.mapping, allocation.mapped + kPage);
  allocations_.erase(found);
  return true;
}

const std::pair<const char* const, Memory::Allocation>* Memory::Find(const void* address) const {
  const char* const at = static_cast<const char*>(address);
  auto after = allocations_.upper_bound(at);
  if (after == allocations_.begin()) return nullptr;
  --after;
  return at < after->first + std::max<size_t>(1, after->second.bytes) ? &*after : nullptr;
}

MemoryKind Memory::KindOf(const void* address) const {
  const auto* const found = Find(address);
  return found == nullptr ? MemoryKind::kPageable : found->second.kind;
}

bool Memory::Holds(const void* begin, size_t bytes) const {
  const auto* const found = Find(begin);
  if (found == nullptr)
    return bytes == 0 || Find(static_cast<const char*>(begin) + bytes - 1) == nullptr;
  return static_cast<const char*>(begin) + bytes <= found->first + found->second.bytes;
}

}  // namespace emulated_cuda
