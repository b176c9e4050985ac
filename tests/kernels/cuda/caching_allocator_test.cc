#include "kernels/cuda/caching_allocator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <thread>

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Host memory of which there is only so much.
class LimitedMemory final : public MemorySource {
 public:
  explicit LimitedMemory(int64_t limit) : limit_(limit) {}
  ~LimitedMemory() override { EXPECT_TRUE(sizes_.empty()) << "memory was not freed"; }

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    MutexLock lock(mutex_);
    if (used_ + bytes > limit_) return absl::ResourceExhaustedError("out of memory");
    used_ += bytes;
    ++allocations_;
    void* const memory = std::malloc(static_cast<size_t>(bytes));
    sizes_[memory] = bytes;
    return memory;
  }
  void Free(void* memory) override {
    MutexLock lock(mutex_);
    used_ -= sizes_.at(memory);
    sizes_.erase(memory);
    std::free(memory);
  }
  int allocations() const { return allocations_; }

 private:
  const int64_t limit_;
  Mutex mutex_;
  std::map<void*, int64_t> sizes_;
  int64_t used_ = 0;
  int allocations_ = 0;
};

TEST(CachingAllocatorTest, UsesAgainWhatCameBack) {
  LimitedMemory memory(1 << 20);
  CachingAllocator allocator(&memory);
  void* first = nullptr;
  {
    const auto buffer = allocator.Take(1000, "a replica");
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    first = buffer->get();
    EXPECT_EQ(allocator.bytes_in_use(), 1024);
  }
  EXPECT_EQ(allocator.bytes_cached(), 1024);
  EXPECT_EQ(allocator.Take(1024, "another")->get(), first) << "of the same rounded size";
  EXPECT_EQ(memory.allocations(), 1);
  const auto larger = allocator.Take(1025, "a larger one");
  EXPECT_NE(larger->get(), first);
  EXPECT_EQ(memory.allocations(), 2);
}

TEST(CachingAllocatorTest, FreesTheCacheBeforeItGivesUp) {
  LimitedMemory memory(4096);
  CachingAllocator allocator(&memory);
  ASSERT_TRUE(allocator.Take(1024, "one").ok());
  ASSERT_TRUE(allocator.Take(2048, "two").ok());
  EXPECT_EQ(allocator.bytes_cached(), 3072);
  const auto whole = allocator.Take(4096, "three");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(allocator.bytes_cached(), 0);
}

TEST(CachingAllocatorTest, SaysWhatTheMemoryWasFor) {
  LimitedMemory memory(4096);
  CachingAllocator allocator(&memory);
  const auto held = allocator.Take(3000, "weights");
  const auto refused = allocator.Take(2000, "the momentum");
  EXPECT_TRUE(absl::IsResourceExhausted(refused.status()));
  EXPECT_THAT(
      std::string(refused.status().message()),
      AllOf(HasSubstr("the momentum (2000 bytes, 3072 in use)"), HasSubstr("out of memory")));
}

TEST(CachingAllocatorTest, BuffersOutliveIt) {
  LimitedMemory memory(4096);
  std::shared_ptr<void> survivor;
  {
    CachingAllocator allocator(&memory);
    survivor = *allocator.Take(512, "a message");
  }
  survivor.reset();  // LimitedMemory checks that it is freed
}

TEST(CachingAllocatorTest, MayBeUsedFromManyThreads) {
  LimitedMemory memory(1 << 20);
  CachingAllocator allocator(&memory);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&allocator, i] {
      for (int k = 0; k < 1000; ++k) {
        const auto buffer = allocator.Take(512 * (1 + (i + k) % 3), "work");
        ASSERT_TRUE(buffer.ok());
        *static_cast<char*>(buffer->get()) = 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(allocator.bytes_in_use(), 0);
}

}  // namespace
}  // namespace grapevine
