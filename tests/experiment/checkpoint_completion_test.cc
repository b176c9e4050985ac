// What rank 0 makes of the nodes' parts of a checkpoint.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/real/node_checkpoints.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Rank kNodes = 3;
constexpr Round kSaved = 2;

std::unique_ptr<Experiment> SmallExperiment() {
  const auto resolved = ResolveConfig({.flags = {{"nodes", absl::StrCat(kNodes)},
                                                 {"model", "softmax"},
                                                 {"data", "synthetic:train=64:test=16"},
                                                 {"rounds", "9"}}});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

class CheckpointCompletionTest : public ::testing::Test {
 protected:
  CheckpointCompletionTest() {
    CheckpointManifest manifest;
    manifest.set_version(kManifestVersion);
    completion_ = std::make_unique<CheckpointCompletion>(CheckpointCompletion::Parts{
        .experiment = experiment_.get(),
        .manifest = manifest,
        .run_directory = folder_.path(),
        .desk = {.nodes = kNodes,
                 .rounds = 9,
                 .saved = [](Round round) { return round % kSaved == 0; },
                 .evaluated = [](Round) { return false; }},
        .sync_metrics = [] { return absl::OkStatus(); },
        .completed = [this](Round round) { completed_.push_back(round); },
        .failed = [this](const absl::Status& why) { failed_ = why; },
        .guard =
            [this](const std::function<absl::Status()>& change) {
              return permitted_.ok() ? change() : permitted_;
            }});
  }

  // A node's part, on the disk and as it is reported.
  control::SavedPart Write(Rank rank) {
    NodeState state{.round = kSaved, .model = "replica"};
    state.vectors["replica"] = NewSharedVector(experiment_->layout().size);
    for (float& element : state.vectors["replica"].span()) element = 1;
    const std::string checkpoint = *OpenCheckpoint(folder_.path(), kSaved);
    const CheckpointPart written = *WriteNodePart(checkpoint, rank, state);
    control::SavedPart part;
    part.set_round(kSaved);
    part.set_bytes(written.bytes());
    part.set_checksum(written.checksum());
    return part;
  }
  void Report(Rank rank, const control::SavedPart& part) {
    const absl::Status status = completion_->OnPart(rank, part);
    ASSERT_TRUE(status.ok()) << status;
  }
  absl::Status Drain() {
    return completion_->Drain(std::chrono::steady_clock::now() + std::chrono::minutes(1));
  }
  std::string Model() const { return ModelPartPath(CheckpointPath(folder_.path(), kSaved)); }

  const ScratchFolder folder_;
  const std::unique_ptr<Experiment> experiment_ = SmallExperiment();
  std::vector<Round> completed_;
  absl::Status failed_;
  absl::Status permitted_;                            // whether this process has rank 0's role
  std::unique_ptr<CheckpointCompletion> completion_;  // last: its thread uses the rest
};

TEST_F(CheckpointCompletionTest, AveragesThePartsThatWereReported) {
  for (Rank rank = 0; rank < kNodes; ++rank) Report(rank, Write(rank));
  ASSERT_TRUE(Drain().ok());
  EXPECT_THAT(completed_, ElementsAre(kSaved));
  EXPECT_TRUE(FindCheckpoint(folder_.path())->manifest.has_model());
  EXPECT_TRUE(std::filesystem::exists(Model()));
}

// An older file, where the node writes to a disk of its own.
TEST_F(CheckpointCompletionTest, LeavesTheModelOutIfAPartIsAnother) {
  for (Rank rank = 0; rank < kNodes; ++rank) {
    control::SavedPart part = Write(rank);
    if (rank == 2) part.set_checksum(part.checksum() ^ 1);
    Report(rank, part);
  }
  const absl::Status drained = Drain();
  ASSERT_TRUE(drained.ok()) << drained;
  EXPECT_THAT(completed_, ElementsAre(kSaved)) << "the node has its part";
  EXPECT_FALSE(FindCheckpoint(folder_.path())->manifest.has_model());
  EXPECT_FALSE(std::filesystem::exists(Model()));
}

// Whoever has it now has removed what was incomplete.
TEST_F(CheckpointCompletionTest, OneThatHasLostItsRoleSaysThatAndNotWhatItFound) {
  permitted_ = WithFailure(absl::AbortedError("another node has its role"), Failure::kPeerLost);
  std::filesystem::create_directories(Model());  // where it cannot be written
  for (Rank rank = 0; rank < kNodes; ++rank) Report(rank, Write(rank));
  EXPECT_EQ(Drain(), permitted_);
  EXPECT_EQ(failed_, permitted_);
}

TEST_F(CheckpointCompletionTest, SaysAtTheEndThatOneFailed) {
  std::filesystem::create_directories(CheckpointPath(folder_.path(), kSaved) +
                                      "/manifest.textproto");
  for (Rank rank = 0; rank < kNodes; ++rank) Report(rank, Write(rank));
  const absl::Status drained = Drain();
  EXPECT_EQ(FailureOf(drained), Failure::kOutput);
  EXPECT_THAT(std::string(drained.message()), HasSubstr("manifest.textproto"));
  EXPECT_EQ(drained, failed_);
  EXPECT_TRUE(completed_.empty());
}

}  // namespace
}  // namespace grapevine
