// A run directory's disk that works, stalls or is slow.
#include "experiment/real/disk_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "system/disk_wait.h"
#include "system/mutex.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::HasSubstr;

const std::string kFile = "runs/ring/node-1/events.rec";

class DiskWatchTest : public ::testing::Test {
 protected:
  void Watch(const std::string& folder, milliseconds patience) {
    watch_.emplace(folder, patience, [this](const absl::Status& why) {
      MutexLock lock(mutex_);
      said_.push_back(why);
      changed_.NotifyAll();
    });
  }
  std::vector<absl::Status> SaidWithin(milliseconds time) {
    const auto deadline = std::chrono::steady_clock::now() + time;
    MutexLock lock(mutex_);
    while (said_.empty() && std::chrono::steady_clock::now() < deadline) {
      changed_.WaitUntil(mutex_, deadline);
    }
    return said_;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<absl::Status> said_ ABSL_GUARDED_BY(mutex_);
  std::optional<DiskWatch> watch_;  // goes first
};

TEST_F(DiskWatchTest, NamesTheFileThatIsWaitedForTooLong) {
  Watch("runs/ring", milliseconds(40));
  const DiskWait stalled(kFile);
  const std::vector<absl::Status> said = SaidWithin(std::chrono::minutes(1));
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(FailureOf(said[0]), Failure::kOutput);
  EXPECT_THAT(std::string(said[0].message()),
              AllOf(HasSubstr("cannot write to " + kFile + ": its disk has taken nothing for "),
                    HasSubstr("--step-timeout")));
}

// As they do who write a large file in pieces, or many.
TEST_F(DiskWatchTest, SaysNothingOfADiskThatIsSlow) {
  Watch("runs/ring", milliseconds(400));
  const auto until = std::chrono::steady_clock::now() + milliseconds(1000);
  while (std::chrono::steady_clock::now() < until) {
    const DiskWait wait(kFile);
    std::this_thread::sleep_for(milliseconds(5));
  }
  EXPECT_TRUE(SaidWithin(milliseconds(0)).empty());
}

TEST_F(DiskWatchTest, SaysNothingOfAnotherRunsDisk) {
  Watch("runs/torus", milliseconds(10));
  const DiskWait stalled(kFile);
  EXPECT_TRUE(SaidWithin(milliseconds(200)).empty());
}

}  // namespace
}  // namespace grapevine::testing
