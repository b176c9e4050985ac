// A node's own measurements on a disk that works, stalls or fails.
#include "experiment/real/node_metrics_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"
#include "tests/testing/stalled_file.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

control::NodeMetrics ReportOf(int64_t round) {
  control::NodeMetrics report;
  report.set_round(round);
  return report;
}

class NodeMetricsFileTest : public ::testing::Test {
 protected:
  std::unique_ptr<NodeMetricsFile> Open(const std::string& path, milliseconds patience) {
    return std::make_unique<NodeMetricsFile>(*LineFile::Open(path), patience,
                                             [this, path](control::NodeMetrics report) {
                                               reported_.push_back(report.round());
                                               if (reads_) texts_.push_back(FileText(path));
                                             });
  }

  // As those do who look after each round.
  static absl::Status AwaitError(const NodeMetricsFile& file) {
    while (file.Check().ok()) std::this_thread::yield();
    return file.Check();
  }

  const ScratchFolder folder_;
  bool reads_ = false;
  std::vector<int64_t> reported_;   // on the thread that writes
  std::vector<std::string> texts_;  // of the file, at each report
};

TEST_F(NodeMetricsFileTest, WhatIsReportedIsInTheFile) {
  reads_ = true;
  const auto file = Open(folder_.File("metrics.jsonl"), std::chrono::minutes(1));
  file->Add("one", ReportOf(1));
  file->Add("two", ReportOf(2));
  ASSERT_TRUE(file->Sync().ok());
  EXPECT_TRUE(file->Check().ok());
  EXPECT_THAT(reported_, ElementsAre(1, 2));
  ASSERT_EQ(texts_.size(), 2u);
  EXPECT_THAT(texts_[0], HasSubstr("one\n"));
  EXPECT_EQ(texts_[1], "one\ntwo\n");
}

// The thread stays in its write(2), and this test ends.
TEST_F(NodeMetricsFileTest, ADiskThatStallsIsNotWaitedForForEver) {
  const StalledFile stalled(folder_.File("stalled"));
  const auto file = Open(stalled.path(), milliseconds(50));
  const std::string line(size_t{1} << 20, '1');
  file->Add(line, ReportOf(1));
  EXPECT_TRUE(file->Check().ok());
  for (const absl::Status& status : {file->Drain(), file->Sync()}) {
    EXPECT_EQ(FailureOf(status), Failure::kOutput);
    EXPECT_THAT(std::string(status.message()), HasSubstr(stalled.path()));
  }
  EXPECT_TRUE(reported_.empty());
}

TEST_F(NodeMetricsFileTest, ADiskThatStallsForAMomentIsWaitedFor) {
  const StalledFile stalled(folder_.File("stalled"));
  auto file = Open(stalled.path(), std::chrono::minutes(1));
  const std::string line(size_t{1} << 20, '1');
  file->Add(line, ReportOf(1));
  EXPECT_TRUE(file->Check().ok());
  std::string text;
  std::thread reader([&] { text = stalled.ReadAll(); });
  EXPECT_TRUE(file->Drain().ok());
  EXPECT_TRUE(file->Check().ok());
  EXPECT_THAT(reported_, ElementsAre(1));
  file = nullptr;
  reader.join();
  EXPECT_EQ(text, line + "\n");
}

TEST_F(NodeMetricsFileTest, AFullDiskIsAnErrorWithTheFilesName) {
  const auto file = Open("/dev/full", std::chrono::minutes(1));
  file->Add("one", ReportOf(1));
  const absl::Status drained = file->Drain();
  EXPECT_EQ(FailureOf(drained), Failure::kOutput);
  EXPECT_THAT(std::string(drained.message()), HasSubstr("/dev/full"));
  file->Add("two", ReportOf(2));
  EXPECT_EQ(AwaitError(*file), drained) << "and nothing more is taken";
  EXPECT_TRUE(reported_.empty());
}

}  // namespace
}  // namespace grapevine::testing
