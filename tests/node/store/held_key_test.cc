// Who holds a key, over a folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "node/store/file_store.h"
#include "node/store/store.h"
#include "system/mutex.h"
#include "tests/model/scratch_folder.h"
#include "tests/node/store/in_time.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

absl::Status GoOn() { return absl::OkStatus(); }

class HeldKeyTest : public ::testing::Test {
 protected:
  HeldKeyTest() { std::filesystem::create_directory(folder_.File("disk")); }

  absl::StatusOr<HeldKey::Taken> Take(const std::string& words) {
    return HeldKey::Take(store_,
                         {.key = "role",
                          .words = words,
                          .time_to_live = testing::Patient(seconds(1)),
                          .on_lost = [this](const absl::Status& why) { OnLost(why); }},
                         InTime(), GoOn);
  }
  void OnLost(const absl::Status& why) {
    MutexLock lock(mutex_);
    lost_ = why;
    changed_.NotifyAll();
  }
  absl::Status AwaitLoss() {
    MutexLock lock(mutex_);
    for (const StoreDeadline end = InTime(); lost_.ok() && steady_clock::now() < end;) {
      changed_.WaitUntil(mutex_, end);
    }
    return lost_;
  }

  const ScratchFolder folder_;
  std::shared_ptr<Store> store_ = std::make_shared<FileStore>(folder_.File("disk/store"));
  Mutex mutex_;
  Condition changed_;
  absl::Status lost_ ABSL_GUARDED_BY(mutex_);
};

// For longer than the time to live, which the second waits for.
TEST_F(HeldKeyTest, TheSecondSeesTheFirst) {
  const auto first = Take("first");
  ASSERT_TRUE(first.ok() && first->held) << first.status();
  const auto second = Take("second");
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->held, nullptr);
  ASSERT_TRUE(second->holder.has_value());
  EXPECT_EQ(second->holder->value, "first");
  EXPECT_EQ(second->holder->created, first->held->fence());
}

TEST_F(HeldKeyTest, WhoComesLaterHasALargerFence) {
  auto first = Take("first");
  ASSERT_TRUE(first.ok() && first->held) << first.status();
  const StoreRevision fence = first->held->fence();
  first->held.reset();
  EXPECT_EQ(store_->Get("role", InTime()).value(), std::nullopt) << "it has let go";
  const auto second = Take("second");
  ASSERT_TRUE(second.ok() && second->held) << second.status();
  EXPECT_GT(second->held->fence(), fence);
}

// As a process that was killed leaves it.
TEST_F(HeldKeyTest, WhatADeadHolderLeavesIsWaitedOutAndTaken) {
  const auto lease = store_->Grant(seconds(1), InTime());
  ASSERT_TRUE(lease.ok()) << lease.status();
  ASSERT_TRUE(store_->CompareAndSwap("role", 0, "dead", *lease, InTime()).ok());
  const auto taken = Take("alive");
  ASSERT_TRUE(taken.ok() && taken->held) << taken.status();
  EXPECT_EQ((*store_->Get("role", InTime()))->value, "alive");
}

TEST_F(HeldKeyTest, AHolderWhoseLeaseHasGoneIsTold) {
  const auto taken = Take("words");
  ASSERT_TRUE(taken.ok() && taken->held) << taken.status();
  ASSERT_TRUE(store_->Revoke((*store_->Get("role", InTime()))->lease, InTime()).ok());
  EXPECT_TRUE(absl::IsNotFound(AwaitLoss()));
}

TEST_F(HeldKeyTest, AHolderWhoseStoreIsAwayIsTold) {
  const auto taken = Take("words");
  ASSERT_TRUE(taken.ok() && taken->held) << taken.status();
  EXPECT_TRUE(taken->held->IsHeld());
  std::filesystem::rename(folder_.File("disk"), folder_.File("away"));
  const absl::Status why = AwaitLoss();
  EXPECT_TRUE(absl::IsUnavailable(why)) << why;
  EXPECT_FALSE(taken->held->IsHeld()) << "as somebody else may have it";
  EXPECT_THAT(why.message(), HasSubstr(folder_.File("disk/store")));
}

// Too busy for the first questions about its leases.
class BusyStore final : public Store {
 public:
  explicit BusyStore(std::string folder) : store_(std::move(folder)) {}
  const std::string& name() const override { return store_.name(); }
  absl::StatusOr<std::optional<StoredValue>> Get(std::string_view key,
                                                 StoreDeadline deadline) override {
    return store_.Get(key, deadline);
  }
  absl::StatusOr<StoreRevision> Put(std::string_view key, std::string_view value, LeaseId lease,
                                    StoreDeadline deadline) override {
    return store_.Put(key, value, lease, deadline);
  }
  absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                              StoreRevision expected,
                                                              std::string_view value, LeaseId lease,
                                                              StoreDeadline deadline) override {
    return store_.CompareAndSwap(key, expected, value, lease, deadline);
  }
  absl::StatusOr<bool> Delete(std::string_view key, StoreDeadline deadline) override {
    return store_.Delete(key, deadline);
  }
  absl::StatusOr<LeaseId> Grant(std::chrono::milliseconds time, StoreDeadline deadline) override {
    return store_.Grant(time, deadline);
  }
  absl::Status KeepAlive(LeaseId lease, StoreDeadline deadline) override {
    if (++questions_ <= 2) return absl::ResourceExhaustedError("too many requests");
    return store_.KeepAlive(lease, deadline);
  }
  absl::Status Revoke(LeaseId lease, StoreDeadline deadline) override {
    return store_.Revoke(lease, deadline);
  }
  absl::StatusOr<std::optional<StoredValue>> AwaitChange(std::string_view key, StoreRevision known,
                                                         StoreDeadline deadline) override {
    return store_.AwaitChange(key, known, deadline);
  }
  int questions() const { return questions_; }

 private:
  FileStore store_;
  std::atomic<int> questions_ = 0;
};

TEST_F(HeldKeyTest, AHolderWhoseStoreIsBusyAsksAgain) {
  const auto busy = std::make_shared<BusyStore>(folder_.File("disk/store"));
  store_ = busy;
  const auto taken = Take("words");
  ASSERT_TRUE(taken.ok() && taken->held) << taken.status();
  const StoreDeadline end = InTime();
  while (busy->questions() < 6 && steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_TRUE(taken->held->IsHeld());
  MutexLock lock(mutex_);
  EXPECT_EQ(lost_, absl::OkStatus());
}

TEST_F(HeldKeyTest, WaitingCanBeInterrupted) {
  const auto taken = Take("words");
  ASSERT_TRUE(taken.ok() && taken->held) << taken.status();
  const auto interrupted = HeldKey::Take(store_, {.key = "role", .words = "others"}, InTime(),
                                         [] { return absl::CancelledError("enough"); });
  EXPECT_EQ(interrupted.status(), absl::CancelledError("enough"));
}

}  // namespace
}  // namespace grapevine
