// Who holds a key, over a folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

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
  const std::shared_ptr<Store> store_ = std::make_shared<FileStore>(folder_.File("disk/store"));
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

TEST_F(HeldKeyTest, WaitingCanBeInterrupted) {
  const auto taken = Take("words");
  ASSERT_TRUE(taken.ok() && taken->held) << taken.status();
  const auto interrupted = HeldKey::Take(store_, {.key = "role", .words = "others"}, InTime(),
                                         [] { return absl::CancelledError("enough"); });
  EXPECT_EQ(interrupted.status(), absl::CancelledError("enough"));
}

}  // namespace
}  // namespace grapevine
