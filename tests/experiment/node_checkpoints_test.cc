// What a real node does with its parts of checkpoints, on a disk that stalls or fails.
#include "experiment/real/node_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <string>

#include "base/status.h"
#include "kernels/vector/shared_vector.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;
using ::testing::HasSubstr;

steady_clock::time_point InAWhile() { return steady_clock::now() + std::chrono::minutes(1); }

class NodeCheckpointsTest : public ::testing::Test {
 protected:
  NodeCheckpointsTest()
      : checkpoints_(std::make_unique<NodeCheckpoints>(NodeCheckpoints::Parts{
            .run_directory = folder_.path(),
            .rank = 1,
            .sync_metrics =
                [this] {
                  stall_.wait();
                  return synced_;
                },
            .report = [](control::SavedPart) { return absl::OkStatus(); },
            .written = [] {},
            .failed = [this](const absl::Status& why) { failed_ = why; }})) {}

  void Save(Round round) {
    SavedNode saved;
    saved.checkpoint = saved.state.round = round;
    saved.state.vectors["replica"] = NewSharedVector(3);
    checkpoints_->Save(std::move(saved), std::chrono::seconds(1));
  }
  absl::Status Drain() { return checkpoints_->Drain(InAWhile()); }
  void SaveUntil(Round last) {
    for (Round round = 1; round <= last; ++round) {
      Save(round);
      ASSERT_TRUE(Drain().ok());
    }
  }
  void Stall() { stall_ = go_.get_future(); }
  void GoOn() { go_.set_value(); }
  bool Has(Round round) const {
    return std::filesystem::exists(NodePartPath(CheckpointPath(folder_.path(), round), 1));
  }

  const ScratchFolder folder_;
  absl::Status synced_, failed_;
  std::promise<void> go_;
  // Of what the disk waits for: nothing.
  std::shared_future<void> stall_ = [] {
    std::promise<void> done;
    done.set_value();
    return done.get_future().share();
  }();
  std::unique_ptr<NodeCheckpoints> checkpoints_;  // last: its thread uses the rest
};

// As after a pause of the connection to rank 0.
TEST_F(NodeCheckpointsTest, TakeAnyNumberOfCompletionsWhileTheDiskStalls) {
  constexpr Round kSaved = 40;
  SaveUntil(kSaved);
  Stall();
  Save(kSaved + 1);
  for (Round round = 1; round <= kSaved; ++round) checkpoints_->OnComplete(round);
  GoOn();
  ASSERT_TRUE(Drain().ok());
  for (Round round = 1; round <= kSaved + 1; ++round) {
    EXPECT_EQ(Has(round), round >= kSaved - 1)
        << "the last complete one and the one before: " << round;
  }
}

TEST_F(NodeCheckpointsTest, KeepWhatACompletionOfALaterRoundSaysNothingOf) {
  SaveUntil(3);
  for (const Round round : {5, 7}) checkpoints_->OnComplete(round);
  ASSERT_TRUE(Drain().ok());
  for (const Round round : {1, 2, 3}) EXPECT_TRUE(Has(round)) << round;
}

TEST_F(NodeCheckpointsTest, SayAtTheEndThatOneFailed) {
  synced_ = OutputError("no room");
  Save(1);
  const absl::Status drained = Drain();
  EXPECT_EQ(drained, failed_);
  EXPECT_EQ(FailureOf(drained), Failure::kOutput);
  EXPECT_THAT(std::string(drained.message()), HasSubstr("no room"));
}

}  // namespace
}  // namespace grapevine
