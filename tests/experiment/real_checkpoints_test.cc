// Real runs keep checkpoints and go on from them: the files of one that never stopped, and the
// checkpoints of a simulated one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/ids.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "tests/experiment/checkpointed_runs.h"
#include "tests/experiment/synchronous_specs.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {
namespace {

using testing::FileText;
using ::testing::HasSubstr;

constexpr Rank kNodes = 4;

std::string WithoutTimes(const std::string& run) {
  std::string text;
  std::istringstream lines(FileText(run + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    absl::StatusOr<RunMetrics> metrics = RunMetricsFromJson(line);
    if (!metrics.ok()) return line;
    metrics->time_s = 0;
    metrics->samples_per_s.reset();
    metrics->buffer_distance.reset();
    text += ToJsonLine(*metrics) + "\n";
  }
  return text;
}

void ExpectSameModels(const std::string& run, const std::string& whole) {
  EXPECT_TRUE(FileText(run + "/model.safetensors") == FileText(whole + "/model.safetensors"));
  for (Rank rank = 0; rank < kNodes; ++rank) {
    const std::string model = absl::StrCat("/node-", rank, "/model.safetensors");
    if (!std::filesystem::exists(whole + model)) continue;  // a server's
    EXPECT_TRUE(FileText(run + model) == FileText(whole + model)) << model;
  }
}

void ExpectSameCheckpoint(const std::string& run, const std::string& other, Round round) {
  const std::string folder = absl::StrCat("/checkpoints/round-", round);
  EXPECT_TRUE(FileText(run + folder + "/model.safetensors") ==
              FileText(other + folder + "/model.safetensors"));
  for (Rank rank = 0; rank < kNodes; ++rank) {
    const std::string part = absl::StrCat(folder, "/node-", rank, ".safetensors");
    ASSERT_TRUE(std::filesystem::exists(other + part)) << part;
    EXPECT_TRUE(FileText(run + part) == FileText(other + part)) << part;
  }
}

class RealCheckpoints : public ::testing::TestWithParam<std::string> {
 protected:
  RealCheckpoints() : flags_{{"algorithm", GetParam()}} {
    const std::string& rule = Algorithms().Read(GetParam())->kind->optimizer;
    if (!rule.empty()) flags_["optimizer"] = rule;
  }
  const ScratchFolder folder_;
  Settings flags_;
};

TEST_P(RealCheckpoints, AreASimulatedRunsAndARunGoesOnFromThem) {
  const std::string real = folder_.File("real"), simulated = folder_.File("simulated");
  const auto whole = Train(real, flags_);
  ASSERT_TRUE(whole.ok()) << whole.status();
  ASSERT_TRUE(Simulate(simulated, flags_).ok());
  for (const Round round : {6, 8}) ExpectSameCheckpoint(real, simulated, round);

  const std::string stopped = folder_.File("stopped");
  std::filesystem::copy(real, stopped, std::filesystem::copy_options::recursive);
  flags_["resume"] = stopped + "/checkpoints/round-6";
  const auto resumed = Train(stopped, flags_);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameModels(stopped, real);
  ExpectSameCheckpoint(stopped, real, 8);
  EXPECT_EQ(WithoutTimes(stopped), WithoutTimes(real));
  EXPECT_EQ(resumed->rounds, whole->rounds);
  EXPECT_EQ(resumed->test_accuracy, whole->test_accuracy);
  EXPECT_EQ(resumed->bytes_sent_total, whole->bytes_sent_total);
  EXPECT_EQ(resumed->evaluation_bytes_sent_total, whole->evaluation_bytes_sent_total);
}

INSTANTIATE_TEST_SUITE_P(Registered, RealCheckpoints, ::testing::ValuesIn(SynchronousSpecs()),
                         testing::SpecTestName);

// All nodes, not only rank 0, need to know how the batch had grown.
TEST(RealRuns, KeepTheCourseThatEvaluationsHaveSet) {
  const ScratchFolder folder;
  Settings flags{{"batch_schedule", "plateau:factor=2:patience=1:threshold=0.9:most=3"},
                 {"eval_every", "0.25"},
                 {"epochs", "2"}};
  const std::string whole = folder.File("whole"), stopped = folder.File("stopped");
  const auto summary = Train(whole, flags);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_LT(summary->rounds, 16) << "the batch has grown";
  std::filesystem::copy(whole, stopped, std::filesystem::copy_options::recursive);
  flags["resume"] = FindCheckpoint(stopped)->path;
  if (FindCheckpoint(stopped)->manifest.round() == summary->rounds) {
    flags["resume"] = CheckpointPath(stopped, summary->rounds - 2);
  }
  const auto resumed = Train(stopped, flags);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->rounds, summary->rounds);
  ExpectSameModels(stopped, whole);
}

TEST(RealRuns, GoOnWithTimeAndFiles) {
  const ScratchFolder folder;
  ASSERT_TRUE(Train(folder.path(), {}).ok());
  const Checkpoint checkpoint = *FindCheckpoint(CheckpointPath(folder.path(), 6));
  EXPECT_GT(checkpoint.manifest.time_ns(), 0);
  ASSERT_TRUE(Train(folder.path(), {{"resume", checkpoint.path}}).ok());
  double last = 0;
  Round round = 0;
  std::istringstream lines(FileText(folder.File("node-2/metrics.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    const auto metrics = NodeMetricsFromJson(line);
    ASSERT_TRUE(metrics.ok()) << metrics.status();
    EXPECT_EQ(metrics->round, ++round);
    EXPECT_GE(metrics->time_s, last);
    last = metrics->time_s;
  }
  EXPECT_EQ(round, 9);
}

// As often as they can be had.
class TimedCheckpoints : public ::testing::TestWithParam<const char*> {};

TEST_P(TimedCheckpoints, ChangeNoBitAndARunGoesOnFromThem) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), timed = folder.File("timed");
  Settings flags{{"algorithm", GetParam()}, {"rounds", "600"}, {"checkpoint_every", "600"}};
  ASSERT_TRUE(Train(whole, flags).ok());
  flags["checkpoint_every"] = "1ns";
  const auto summary = Train(timed, flags);
  ASSERT_TRUE(summary.ok()) << summary.status();
  ExpectSameModels(timed, whole);

  const auto last = FindCheckpoint(timed);
  ASSERT_TRUE(last.ok()) << last.status();
  EXPECT_LT(last->manifest.round(), 600) << "nobody could go on from there";
  flags["resume"] = last->path;
  const auto resumed = Train(timed, flags);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameModels(timed, whole);
  EXPECT_EQ(WithoutTimes(timed), WithoutTimes(whole));
  EXPECT_EQ(resumed->bytes_sent_total, summary->bytes_sent_total);
}

INSTANTIATE_TEST_SUITE_P(Some, TimedCheckpoints,
                         ::testing::Values("dpsgd", "allreduce", "sgp:overlap=2", "ps"));

TEST(RealRuns, RefuseADamagedPartWithItsRank) {
  const ScratchFolder folder;
  ASSERT_TRUE(Train(folder.path(), {}).ok());
  const std::string part = folder.File("checkpoints/round-6/node-2.safetensors");
  std::string bytes = FileText(part);
  bytes.back() ^= 1;
  std::ofstream(part, std::ios::binary) << bytes;
  const std::string before = FileText(folder.File("metrics.jsonl"));
  const auto resumed = Train(folder.path(), {{"resume", CheckpointPath(folder.path(), 6)}});
  EXPECT_EQ(FailureOf(resumed.status()), Failure::kRendezvous) << resumed.status();
  EXPECT_THAT(std::string(resumed.status().message()),
              HasSubstr("its part of the checkpoint of round 6 is not the one that was written"));
  EXPECT_THAT(std::string(resumed.status().message()), HasSubstr("rank 2"));
  EXPECT_EQ(FindCheckpoint(folder.path())->manifest.round(), 8) << "nothing is touched";
  EXPECT_EQ(FileText(folder.File("metrics.jsonl")), before);
}

TEST(RealRuns, LeaveNoCheckpointThatNobodyGoesOnFrom) {
  const ScratchFolder folder;
  Settings flags{{"target_accuracy", "0.01"}};
  const auto met = Train(folder.path(), flags);
  ASSERT_TRUE(met.ok()) << met.status();
  for (const auto& entry : std::filesystem::directory_iterator(folder.File("checkpoints"))) {
    EXPECT_EQ(entry.path().filename(), "round-2") << "before the target was met";
  }
  flags["resume"] = folder.path();
  const absl::Status over = Train(folder.path(), flags).status();
  EXPECT_EQ(FailureOf(over), Failure::kUsage);
  EXPECT_THAT(std::string(over.message()), HasSubstr("it met --target-accuracy=0.01 by round 4"));
}

// Nodes cut their metrics once they hear that the run goes on: later checkpoints rely on them.
TEST(RealRuns, CutNoMetricsBeforeLaterCheckpointsAreNone) {
  const ScratchFolder folder;
  ASSERT_TRUE(Train(folder.path(), {}).ok());
  const std::string manifest = CheckpointPath(folder.path(), 8) + "/manifest.textproto";
  std::filesystem::remove(manifest);
  std::filesystem::create_directories(manifest + "/cannot-be-removed");
  std::map<std::string, std::string> before;
  for (Rank rank = 0; rank < kNodes; ++rank) {
    const std::string file = folder.File(absl::StrCat("node-", rank, "/metrics.jsonl"));
    before[file] = FileText(file);
  }
  const auto resumed = Train(folder.path(), {{"resume", CheckpointPath(folder.path(), 6)}});
  EXPECT_EQ(FailureOf(resumed.status()), Failure::kOutput) << resumed.status();
  EXPECT_THAT(std::string(resumed.status().message()), HasSubstr(manifest));
  for (const auto& [file, text] : before) EXPECT_EQ(FileText(file), text) << file;
}

// All nodes have trained by then; none of them says that all is well.
TEST(RealRuns, FailIfTheirLastCheckpointDoes) {
  const ScratchFolder folder;
  std::filesystem::create_directories(CheckpointPath(folder.path(), 8) + "/manifest.textproto");
  const auto summary = Train(folder.path(), {{"rounds", "8"}, {"checkpoint_every", "8"}});
  EXPECT_EQ(FailureOf(summary.status()), Failure::kOutput) << summary.status();
  EXPECT_THAT(std::string(summary.status().message()), HasSubstr("manifest.textproto"));
  EXPECT_FALSE(std::filesystem::exists(folder.File("summary.json")));
}

// Whatever is killed when, no results are of later rounds than the metrics.
TEST(RealRuns, ThatGoOnHaveNoResultsBeforeTheyEnd) {
  const ScratchFolder folder;
  ASSERT_TRUE(Train(folder.path(), {}).ok());
  // The first thing that keeps it from going on is behind the removal.
  const std::string manifest = CheckpointPath(folder.path(), 8) + "/manifest.textproto";
  std::filesystem::remove(manifest);
  std::filesystem::create_directories(manifest + "/cannot-be-removed");
  const auto stopped = Train(folder.path(), {{"resume", CheckpointPath(folder.path(), 6)}});
  EXPECT_EQ(FailureOf(stopped.status()), Failure::kOutput) << stopped.status();
  EXPECT_FALSE(HasResults(folder.path()));
  std::filesystem::remove_all(manifest);
  const auto resumed = Train(folder.path(), {{"resume", folder.path()}});
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->rounds, 9);
  EXPECT_TRUE(HasResults(folder.path()));
}

TEST(RealRuns, ThatAreOverAreRefusedWhereverTheirLastCheckpointIs) {
  const ScratchFolder folder;
  ASSERT_TRUE(Train(folder.path(), {}).ok());
  ASSERT_EQ(FindCheckpoint(folder.path())->manifest.round(), 8);
  const auto again = Train(folder.path(), {{"resume", folder.path()}});
  EXPECT_EQ(FailureOf(again.status()), Failure::kUsage);
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("all its 9 rounds are done"));
}

TEST(RealRuns, ThatAreOverAreRefused) {
  const ScratchFolder folder;
  ASSERT_TRUE(Train(folder.path(), {{"rounds", "8"}}).ok());
  const auto again = Train(folder.path(), {{"rounds", "8"}, {"resume", folder.path()}});
  EXPECT_EQ(FailureOf(again.status()), Failure::kUsage);
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("all its 8 rounds are done"));
}

}  // namespace
}  // namespace grapevine
