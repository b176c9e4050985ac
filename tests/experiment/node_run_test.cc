#include "experiment/real/node_run.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/config/config_resolve.h"
#include "system/file_descriptor.h"
#include "system/mutex.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::chrono::seconds kLong{60};
constexpr Round kRounds = 200;

// A run of one node whose metrics.jsonl is a pipe: a file system that takes in a few
// lines and stalls until somebody reads.
class StalledMetrics : public ::testing::Test {
 protected:
  StalledMetrics() {
    signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    pipe_ = UniqueDescriptor(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    EXPECT_LE(fcntl(pipe_.get(), F_SETPIPE_SZ, 4096), 4096);
    fcntl(pipe_.get(), F_SETFL, 0);
  }
  ~StalledMetrics() override {
    pipe_.Close();  // whoever still writes finds that out
    if (thread_.joinable()) thread_.join();
  }

  void Begin(const std::string& step_timeout) {
    auto resolved = *ResolveConfig({.flags = {{"nodes", "1"},
                                              {"topology", "complete"},
                                              {"model", "phantom:1kB"},
                                              {"compute", "1us"},
                                              {"rounds", std::to_string(kRounds)},
                                              {"log_every", "1"},
                                              {"peer_timeout", "2s"},
                                              {"step_timeout", step_timeout}}});
    auto experiment = Experiment::Build(resolved.config);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    experiment_ = *std::move(experiment);
    NodeRunOptions options{.run_directory = folder_.path()};
    options.session.run_id = "stalled";
    options.session.credentials = *GrpcCredentials::Load({.insecure = true});
    options.on_listening = [](const HostAddress&) { return absl::OkStatus(); };
    options.on_metrics = [this](const RunMetrics& metrics) { OnMetrics(metrics.round); };
    run_ = std::make_unique<NodeRun>(experiment_.get(), std::move(options));
    thread_ = std::thread([this] {
      absl::Status status = run_->Run();
      run_.reset();  // writes what is left
      MutexLock lock(mutex_);
      ended_ = std::move(status);
      changed_.NotifyAll();
    });
  }

  bool AwaitMeasurement(Round round) {
    MutexLock lock(mutex_);
    const auto deadline = steady_clock::now() + kLong;
    while (measured_ < round && !ended_) {
      if (!changed_.WaitUntil(mutex_, deadline)) break;
    }
    return measured_ >= round;
  }
  absl::Status AwaitEnd() {
    MutexLock lock(mutex_);
    const auto deadline = steady_clock::now() + kLong;
    while (!ended_) {
      if (!changed_.WaitUntil(mutex_, deadline)) return absl::DeadlineExceededError("no end");
    }
    return *ended_;
  }
  // All that will come.
  std::string Read() const {
    std::string text;
    char buffer[4096];
    ssize_t got;
    while ((got = read(pipe_.get(), buffer, sizeof(buffer))) > 0) text.append(buffer, got);
    return text;
  }

  const ScratchFolder folder_;
  const std::string path_ = folder_.File("metrics.jsonl");

 private:
  void OnMetrics(Round round) {
    MutexLock lock(mutex_);
    measured_ = round;
    changed_.NotifyAll();
  }

  UniqueDescriptor pipe_;
  std::unique_ptr<Experiment> experiment_;
  std::unique_ptr<NodeRun> run_;
  std::thread thread_;
  Mutex mutex_;
  Condition changed_;
  Round measured_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<absl::Status> ended_ ABSL_GUARDED_BY(mutex_);
};

// Rank 0 goes on hearing the nodes, and what was measured is written when it can be.
TEST_F(StalledMetrics, HoldNobodyUpAndAreWrittenInTheEnd) {
  Begin("15min");
  ASSERT_TRUE(AwaitMeasurement(kRounds)) << "measurements wait for the file system";
  const std::string text = Read();
  EXPECT_EQ(std::ranges::count(text, '\n'), kRounds);
  EXPECT_TRUE(AwaitEnd().ok()) << AwaitEnd();
}

TEST_F(StalledMetrics, EndTheRunWhenTheyCannotBeWritten) {
  Begin("2s");
  const absl::Status status = AwaitEnd();
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
  // The writer notices it when more is to be written, the watch over the disk at its own times.
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr(path_), AnyOf(HasSubstr("has stood still"),
                                            HasSubstr("its disk has taken nothing for"))));
}

}  // namespace
}  // namespace grapevine
