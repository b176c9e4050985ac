// Who may change a run's files, under a lease that comes and goes as the test says.
#include "experiment/real/write_right.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "base/status.h"
#include "node/discovery/role_lease.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;

class Place final : public Discovery, public RoleLease {
 public:
  std::atomic<bool> held = true;
  std::atomic<bool> asked = false;

  const std::string& place() const override { return name_; }
  absl::Status Announce(const ListeningCoordinator&, Deadline, const Interrupted&) override {
    return absl::OkStatus();
  }
  void Withdraw() override {}
  absl::StatusOr<FoundCoordinator> Find(Deadline, const Interrupted&) override {
    return absl::UnimplementedError("nobody looks");
  }
  RoleLease* lease() override { return this; }
  absl::Status Check() override {
    if (held) return absl::OkStatus();
    return WithFailure(absl::AbortedError("another has the role"), Failure::kPeerLost);
  }
  absl::Status Await(std::chrono::nanoseconds patience) override {
    asked = true;
    const auto deadline = steady_clock::now() + patience;
    while (!held && steady_clock::now() < deadline) std::this_thread::yield();
    return Check();
  }
  void OnSuperseded(std::function<void(const absl::Status&)>) override {}

 private:
  const std::string name_ = "a place";
};

class WriteRightTest : public ::testing::Test {
 protected:
  WriteGuard Guard(std::chrono::nanoseconds patience, bool locks = false) {
    return WriteRight(
        {.run_directory = run_.path(), .place = place_, .locks = locks, .patience = patience});
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(run_.File(name)); }

  const ScratchFolder run_;
  const std::shared_ptr<Place> place_ = std::make_shared<Place>();
};

// As of a rank 0 that was stopped while it wrote, and wakes when others have ended the run.
TEST_F(WriteRightTest, AFileThatWasBegunBeforeIsNotRenamedOnceTheRoleIsLost) {
  run_.Write("model", "that of the others");
  auto file = AtomicFile::Create(run_.File("model"));
  ASSERT_TRUE(file.ok() && (*file)->Append("an old one").ok());
  place_->held = false;
  const absl::Status refused = (*file)->Commit(Guard(milliseconds(1)));
  EXPECT_EQ(FailureOf(refused), Failure::kPeerLost) << refused;
  EXPECT_EQ(AsOutputStatus(refused), refused) << "it is no failure of the disk";
  file->reset();
  const auto kept = MappedFile::Open(run_.File("model"));
  ASSERT_TRUE(kept.ok()) << kept.status();
  EXPECT_EQ((*kept)->bytes().size(), std::string("that of the others").size());
}

TEST_F(WriteRightTest, LinesWaitForARoleThatComesBack) {
  place_->held = false;
  auto file = LineFile::Open(run_.File("metrics.jsonl"));
  ASSERT_TRUE(file.ok()) << file.status();
  BackgroundLines lines(
      *std::move(file), [](const absl::Status& why) { FAIL() << why; }, Guard(minutes(5)));
  lines.Append("{}");
  while (!place_->asked) std::this_thread::yield();
  EXPECT_EQ(std::filesystem::file_size(run_.File("metrics.jsonl")), 0u);
  place_->held = true;
  EXPECT_TRUE(lines.Drain(steady_clock::now() + minutes(1)).ok());
  EXPECT_EQ(std::filesystem::file_size(run_.File("metrics.jsonl")), 3u);
}

TEST_F(WriteRightTest, TakesTheLockAsSoonAsWhoHadItHasEnded) {
  auto before = RunLock::Take(run_.path(), absl::Now());
  ASSERT_TRUE(before.ok()) << before.status();
  {
    const WriteGuard guard = Guard(milliseconds(1), /*locks=*/true);
    EXPECT_TRUE(WriteOutputFile(run_.File("a"), "", guard).ok()) << "it waits for nobody";
    before->reset();
    EXPECT_TRUE(CheckNobodyWrites(run_.path()).ok());
    EXPECT_TRUE(WriteOutputFile(run_.File("b"), "", guard).ok());
    EXPECT_EQ(FailureOf(CheckNobodyWrites(run_.path())), Failure::kOutput);
  }
  EXPECT_TRUE(CheckNobodyWrites(run_.path()).ok());
}

TEST_F(WriteRightTest, WithoutALeaseNobodyAsks) {
  const WriteGuard guard = WriteRight({.run_directory = run_.path()});
  EXPECT_TRUE(WriteOutputFile(run_.File("a"), "", guard).ok());
  EXPECT_TRUE(Exists("a"));
}

}  // namespace
}  // namespace grapevine
