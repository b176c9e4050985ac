// Simulated runs that are stopped and go on from a checkpoint: the files of one that never stopped.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "tests/experiment/checkpointed_runs.h"
#include "tests/experiment/synchronous_specs.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using testing::FileText;
using ::testing::HasSubstr;

constexpr Round kRounds = 9, kStopped = 5;

absl::StatusOr<std::unique_ptr<Experiment>> Checkpointing(Settings settings) {
  settings.insert({{"compute", "1ms"}, {"seed", "1"}});
  return CheckpointedExperiment(settings);
}

// Until `stop` is measured, if it is given.
absl::StatusOr<Summary> RunIn(const std::string& folder, const Settings& settings,
                              std::optional<Round> stop = std::nullopt) {
  std::filesystem::create_directories(folder);
  const auto experiment = Checkpointing(settings);
  if (!experiment.ok()) return experiment.status();
  std::atomic<bool> interrupted = false;
  return SimulatedRun(experiment->get(), {.run_directory = folder,
                                          .on_metrics =
                                              [&](const RunMetrics& metrics) {
                                                if (metrics.round == stop) interrupted = true;
                                              },
                                          .interrupted = &interrupted})
      .Run();
}

std::vector<std::string> Lines(const std::string& path) {
  std::vector<std::string> lines;
  std::istringstream text(FileText(path));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// All of a run's measurements but for times, since a run that goes on has its nodes begin together.
// So their losses are summed in another order, too.
std::vector<std::string> LinesWithoutTimes(const std::string& run) {
  std::vector<std::string> lines;
  for (const std::string& line : Lines(run + "/metrics.jsonl")) {
    absl::StatusOr<RunMetrics> metrics = RunMetricsFromJson(line);
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    if (!metrics.ok()) continue;
    metrics->time_s = 0;
    metrics->samples_per_s.reset();
    if (metrics->train_loss) metrics->train_loss = std::round(*metrics->train_loss * 1e9) / 1e9;
    lines.push_back(ToJsonLine(*metrics));
  }
  return lines;
}

std::vector<std::string> NodeLosses(const std::string& run, Rank rank) {
  std::vector<std::string> lines;
  for (const std::string& line : Lines(absl::StrCat(run, "/node-", rank, "/metrics.jsonl"))) {
    const absl::StatusOr<NodeMetrics> metrics = NodeMetricsFromJson(line);
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    if (!metrics.ok()) continue;
    lines.push_back(absl::StrCat(metrics->round, ": ", metrics->train_loss.value_or(-1), ", ",
                                 metrics->bytes_sent_total.value_or(-1)));
  }
  return lines;
}

void ExpectSameRun(const std::string& resumed, const std::string& whole) {
  EXPECT_EQ(LinesWithoutTimes(resumed), LinesWithoutTimes(whole));
  EXPECT_TRUE(FileText(resumed + "/model.safetensors") == FileText(whole + "/model.safetensors"));
  for (Rank rank = 0; rank < 4; ++rank) {
    const std::string model = absl::StrCat("/node-", rank, "/model.safetensors");
    EXPECT_TRUE(FileText(resumed + model) == FileText(whole + model)) << model;
    EXPECT_EQ(NodeLosses(resumed, rank), NodeLosses(whole, rank)) << rank;
    // What a run that goes on keeps in turn is the same as well.
    const std::string part = absl::StrCat("/checkpoints/round-8/node-", rank, ".safetensors");
    EXPECT_TRUE(FileText(resumed + part) == FileText(whole + part)) << part;
  }
}

// By the times at which the first node has completed each round.
std::vector<Round> SavedByTheTime(const std::string& run, double every_s) {
  std::map<Round, double> first;
  for (Rank rank = 0; rank < 4; ++rank) {
    for (const std::string& line : Lines(absl::StrCat(run, "/node-", rank, "/metrics.jsonl"))) {
      const absl::StatusOr<NodeMetrics> metrics = NodeMetricsFromJson(line);
      EXPECT_TRUE(metrics.ok()) << metrics.status();
      const auto [at, inserted] = first.emplace(metrics->round, metrics->time_s);
      at->second = std::min(at->second, metrics->time_s);
    }
  }
  std::vector<Round> saved;
  double last = 0;
  for (const auto& [round, time] : first) {
    if (round == kRounds || time - last < every_s) continue;
    saved.push_back(round);
    last = time;
  }
  return saved;
}

TEST(TimedSimulation, SavesWhenTheFirstNodeIsThereAndGoesOnWithTheSameBits) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), timed = folder.File("timed");
  ASSERT_TRUE(RunIn(whole, {{"checkpoint_every", "8"}}).ok());
  Settings settings{{"checkpoint_every", "2500us"}};
  ASSERT_TRUE(RunIn(timed, settings).ok());
  EXPECT_EQ(FileText(timed + "/metrics.jsonl"), FileText(whole + "/metrics.jsonl"));
  const std::vector<Round> saved = SavedByTheTime(whole, 2.5e-3);
  ASSERT_GE(saved.size(), 2u);
  ASSERT_LT(saved.size(), static_cast<size_t>(kRounds)) << "or it says little";
  for (Round round = 1; round <= kRounds; ++round) {
    const bool kept = round == saved.back() || round == saved[saved.size() - 2];
    EXPECT_EQ(std::filesystem::exists(CheckpointPath(timed, round)), kept) << round;
  }
  settings["resume"] = CheckpointPath(timed, saved[saved.size() - 2]);
  const auto resumed = RunIn(timed, settings);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_TRUE(FileText(timed + "/model.safetensors") == FileText(whole + "/model.safetensors"));
}

class ResumedSimulation : public ::testing::TestWithParam<std::string> {};

TEST_P(ResumedSimulation, LeavesTheFilesOfOneThatNeverStopped) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), stopped = folder.File("stopped");
  Settings settings{{"algorithm", GetParam()}};
  const std::string& rule = Algorithms().Read(GetParam())->kind->optimizer;
  if (!rule.empty()) settings["optimizer"] = rule;
  const auto summary = RunIn(whole, settings);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(FailureOf(RunIn(stopped, settings, kStopped).status()), Failure::kInterrupted);
  EXPECT_EQ(FindCheckpoint(stopped)->manifest.round(), 4);

  settings["resume"] = stopped;
  const auto resumed = RunIn(stopped, settings);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameRun(stopped, whole);
  EXPECT_EQ(resumed->rounds, kRounds);
  EXPECT_EQ(resumed->test_accuracy, summary->test_accuracy);
  EXPECT_EQ(resumed->bytes_sent_total, summary->bytes_sent_total);
  EXPECT_EQ(resumed->evaluation_bytes_sent_total, summary->evaluation_bytes_sent_total);
  const ServerLinks links = resumed->server_links.value_or(ServerLinks());
  const ServerLinks expected = summary->server_links.value_or(ServerLinks());
  EXPECT_EQ(links.bytes_sent, expected.bytes_sent);
  EXPECT_EQ(links.bytes_received, expected.bytes_received);
}

INSTANTIATE_TEST_SUITE_P(Registered, ResumedSimulation, ::testing::ValuesIn(SynchronousSpecs()),
                         testing::SpecTestName);

// The batch of rounds to come depends on the evaluations before the checkpoint.
TEST(SimulatedCheckpoints, KeepTheCourseThatEvaluationsHaveSet) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), stopped = folder.File("stopped");
  Settings settings{{"batch_schedule", "plateau:factor=2:patience=1:threshold=0.9:most=3"},
                    {"eval_every", "0.25"},
                    {"epochs", "2"}};
  const auto summary = RunIn(whole, settings);
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_FALSE(RunIn(stopped, settings, kStopped).ok());
  settings["resume"] = stopped;
  const auto resumed = RunIn(stopped, settings);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameRun(stopped, whole);
  EXPECT_EQ(resumed->rounds, summary->rounds);
  EXPECT_LT(resumed->rounds, 16) << "the batch has grown";
}

// The run's metrics.jsonl, of which `change` changes or drops (false) measurements.
void ChangeMetrics(const std::string& run, const std::function<bool(RunMetrics*)>& change) {
  std::string text;
  for (const std::string& line : Lines(run + "/metrics.jsonl")) {
    RunMetrics metrics = *RunMetricsFromJson(line);
    if (change(&metrics)) text += ToJsonLine(metrics) + "\n";
  }
  std::ofstream(run + "/metrics.jsonl") << text;
}

TEST(SimulatedCheckpoints, NeedTheEvaluationsBeforeThem) {
  const ScratchFolder folder;
  EXPECT_FALSE(RunIn(folder.path(), {}, kStopped).ok());
  ChangeMetrics(folder.path(), [](RunMetrics* metrics) { return metrics->round != 4; });
  const absl::Status status = RunIn(folder.path(), {{"resume", folder.path()}}).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("metrics.jsonl: lacks the evaluation of round 4"));
  std::filesystem::remove(folder.File("metrics.jsonl"));
  EXPECT_EQ(FailureOf(RunIn(folder.path(), {{"resume", folder.path()}}).status()), Failure::kInput);
}

// JSON has no such numbers: the line of the evaluation is there, without a loss.
TEST(SimulatedCheckpoints, CountEvaluationsWhoseLossIsNoNumber) {
  const ScratchFolder folder;
  Settings settings{{"target_accuracy", "1"}, {"eval_every", "0.25"}};
  EXPECT_FALSE(RunIn(folder.path(), settings, kStopped).ok());
  ChangeMetrics(folder.path(), [](RunMetrics* metrics) {
    metrics->test_loss.reset();
    return true;
  });
  settings["resume"] = folder.path();
  const auto resumed = RunIn(folder.path(), settings);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->rounds, kRounds);
}

TEST(SimulatedCheckpoints, HoldTheAveragedModel) {
  const ScratchFolder folder;
  ASSERT_TRUE(RunIn(folder.path(), {{"rounds", "8"}}).ok());
  EXPECT_TRUE(FileText(folder.File("model.safetensors")) ==
              FileText(folder.File("checkpoints/round-8/model.safetensors")));
}

TEST(SimulatedCheckpoints, ChangeNothing) {
  const ScratchFolder folder;
  const std::string with = folder.File("with"), without = folder.File("without");
  ASSERT_TRUE(RunIn(with, {{"algorithm", "sgp:overlap=2"}}).ok());
  ASSERT_TRUE(RunIn(without, {{"algorithm", "sgp:overlap=2"}, {"checkpoint_every", "100"}}).ok());
  EXPECT_FALSE(std::filesystem::exists(without + "/checkpoints"));
  for (const char* file : {"/metrics.jsonl", "/summary.json", "/node-1/metrics.jsonl"}) {
    EXPECT_EQ(FileText(with + file), FileText(without + file)) << file;
  }
}

TEST(SimulatedCheckpoints, AnOlderOneCanBeGoneBackTo) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), back = folder.File("back");
  ASSERT_TRUE(RunIn(whole, {}).ok());
  ASSERT_TRUE(RunIn(back, {}).ok());
  const auto resumed = RunIn(back, {{"resume", back + "/checkpoints/round-6"}});
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameRun(back, whole);
}

// Stopped once more before it is where it had been: what it had left there is of another past.
TEST(SimulatedCheckpoints, AnOlderOneThatIsGoneBackToIsTheLastOne) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), back = folder.File("back");
  ASSERT_TRUE(RunIn(whole, {}).ok());
  ASSERT_TRUE(RunIn(back, {}).ok());
  const Settings older{{"resume", back + "/checkpoints/round-6"}, {"checkpoint_every", "100"}};
  EXPECT_EQ(FailureOf(RunIn(back, older, 7).status()), Failure::kInterrupted);
  EXPECT_EQ(FindCheckpoint(back)->manifest.round(), 6);
  EXPECT_FALSE(HasResults(back)) << "of rounds that its metrics do not have";
  EXPECT_FALSE(std::filesystem::exists(back + "/statistics.json"));
  const auto resumed = RunIn(back, {{"resume", back}});
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameRun(back, whole);
}

// Nobody could go on from there.
TEST(SimulatedCheckpoints, AreNotTakenOnceTheTargetIsMet) {
  const ScratchFolder folder;
  const Settings settings{{"target_accuracy", "0.01"}};
  const auto met = RunIn(folder.path(), settings);
  ASSERT_TRUE(met.ok()) << met.status();
  EXPECT_EQ(met->rounds, 4);
  EXPECT_EQ(FindCheckpoint(folder.path())->manifest.round(), 2);
  EXPECT_FALSE(std::filesystem::exists(folder.File("checkpoints/round-4")));
  Settings again = settings;
  again["resume"] = folder.path();
  const absl::Status over = RunIn(folder.path(), again).status();
  EXPECT_EQ(FailureOf(over), Failure::kUsage);
  EXPECT_THAT(std::string(over.message()),
              HasSubstr("the run is over: it met --target-accuracy=0.01 by round 4"));
  again["resume"] = folder.File("checkpoints/round-2");
  const auto resumed = RunIn(folder.path(), again);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->rounds, 4);
  EXPECT_EQ(resumed->test_accuracy, met->test_accuracy);
}

TEST(SimulatedCheckpoints, OfARunThatIsOverAreRefused) {
  const ScratchFolder folder;
  const std::string run = folder.File("run"), met = folder.File("met");
  ASSERT_TRUE(RunIn(run, {{"rounds", "8"}}).ok());
  const absl::Status done = RunIn(run, {{"rounds", "8"}, {"resume", run}}).status();
  EXPECT_EQ(FailureOf(done), Failure::kUsage);
  EXPECT_THAT(std::string(done.message()),
              HasSubstr("/round-8: the run is over: all its 8 rounds are done"));

  // Its last checkpoint is of round 8.
  const std::string longer = folder.File("longer");
  ASSERT_TRUE(RunIn(longer, {}).ok());
  const std::string results = FileText(longer + "/summary.json");
  for (const char* nodes : {"4", "3"}) {
    Settings again{{"resume", longer}, {"nodes", nodes}};
    if (again["nodes"] == "3") again["planned_nodes"] = "4";
    const absl::Status ended = RunIn(longer, again).status();
    EXPECT_EQ(FailureOf(ended), Failure::kUsage) << ended;
    EXPECT_THAT(
        std::string(ended.message()),
        AllOf(HasSubstr("--resume=" + longer + ": the run is over: all its 9 rounds are done"),
              HasSubstr("--resume an earlier one of " + longer + "/checkpoints"),
              HasSubstr("--init-from=" + longer + "/model.safetensors")));
  }
  EXPECT_EQ(FileText(longer + "/summary.json"), results);
  const absl::Status late = InterruptedError("interrupted");
  EXPECT_FALSE(RoundToGoOnAfter(longer, kRounds, late)) << "there is nothing left to do";

  const Settings target{{"target_accuracy", "1"}};
  EXPECT_FALSE(RunIn(met, target, 7).ok());
  ChangeMetrics(met, [](RunMetrics* metrics) {
    if (metrics->round == 4) metrics->test_accuracy = 1;
    return true;
  });
  const std::string before = FileText(met + "/metrics.jsonl");
  Settings again = target;
  again["resume"] = met + "/checkpoints/round-4";
  const absl::Status over = RunIn(met, again).status();
  EXPECT_EQ(FailureOf(over), Failure::kUsage);
  EXPECT_THAT(std::string(over.message()),
              HasSubstr("round-4: the run is over: it met --target-accuracy=1 by round 4"));
  EXPECT_EQ(FindCheckpoint(met)->manifest.round(), 6) << "nothing is touched";
  EXPECT_EQ(FileText(met + "/metrics.jsonl"), before);
}

// Its last checkpoint is of its last round, and what comes after that, its results, is lost.
TEST(SimulatedCheckpoints, OfARunThatIsKilledBeforeItsResultsAreWrittenMakeThem) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), killed = folder.File("killed");
  for (const std::string& run : {whole, killed}) {
    ASSERT_TRUE(RunIn(run, {{"checkpoint_every", "3"}}).ok());
  }
  ASSERT_EQ(FindCheckpoint(killed)->manifest.round(), kRounds);
  for (const char* result : {"/summary.json", "/model.safetensors"}) {
    std::filesystem::remove(killed + result);
  }
  EXPECT_THAT(
      std::string(NamingWhatIsKept(killed, kRounds, InterruptedError("interrupted")).message()),
      HasSubstr(absl::StrCat(" goes on after round ", kRounds - 3)));
  const auto resumed = RunIn(killed, {{"checkpoint_every", "3"}, {"resume", killed}});
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  ExpectSameRun(killed, whole);
}

// Told to end when all nodes have completed so many rounds.
absl::StatusOr<Summary> TerminatedAfter(Round round, const std::string& folder) {
  const auto experiment = Checkpointing({{"checkpoint_every", "10h"}});
  if (!experiment.ok()) return experiment.status();
  std::atomic<bool> terminated = false;
  return SimulatedRun(experiment->get(), {.run_directory = folder,
                                          .on_metrics =
                                              [&](const RunMetrics& metrics) {
                                                if (metrics.round == round) terminated = true;
                                              },
                                          .terminated = &terminated})
      .Run();
}

TEST(Termination, OfASimulationSavesAfterTheNextRound) {
  const ScratchFolder folder;
  const auto summary = TerminatedAfter(kRounds - 2, folder.path());
  EXPECT_EQ(FailureOf(summary.status()), Failure::kTerminated) << summary.status();
  EXPECT_EQ(FindCheckpoint(folder.path())->manifest.round(), kRounds - 1);
}

TEST(Termination, OfASimulationInItsLastRoundLetsItEnd) {
  const ScratchFolder folder;
  const auto summary = TerminatedAfter(kRounds - 1, folder.path());
  ASSERT_TRUE(summary.ok()) << summary.status();
  EXPECT_EQ(summary->rounds, kRounds);
  EXPECT_FALSE(FindCheckpoint(folder.path()).ok());
}

std::string Refusal(const Settings& settings) {
  const auto experiment = Checkpointing(settings);
  if (!experiment.ok()) return std::string(experiment.status().message());
  const auto interval = CheckpointsOf(**experiment);
  if (!interval.ok()) return std::string(interval.status().message());
  return std::string(CheckpointToResume(**experiment).status().message());
}

TEST(SimulatedCheckpoints, AreRefusedWhereThereCanBeNone) {
  for (const char* every : {"0", "-3", "0s", "10 rounds", "5m"}) {
    EXPECT_THAT(Refusal({{"checkpoint_every", every}}),
                HasSubstr("must be a number of rounds from 1 on, or a time, such as 30s"))
        << every;
  }
  EXPECT_THAT(Refusal({{"model", "phantom:1MB"}}),
              HasSubstr("--checkpoint-every=2: --model=phantom:1MB has no weights to save"));
}

TEST(SimulatedCheckpoints, OfAnotherExperimentAreRefusedWithTheSetting) {
  const ScratchFolder folder;
  ASSERT_TRUE(RunIn(folder.path(), {}).ok());
  EXPECT_THAT(Refusal({{"resume", folder.path()}, {"lr", "0.5"}}), HasSubstr("--lr was "));
  EXPECT_THAT(Refusal({{"resume", folder.path()}, {"nodes", "5"}}),
              HasSubstr("the run was planned for 4 nodes, and is for 5"));
  EXPECT_THAT(Refusal({{"resume", folder.path()}, {"lr", "0.5"}, {"seed", "3"}}),
              AllOf(HasSubstr("--seed was 1 and is 3"), HasSubstr("--lr was ")));
  EXPECT_THAT(Refusal({{"resume", folder.File("none")}}),
              HasSubstr("none has no complete checkpoint"));
  EXPECT_EQ(Refusal({{"resume", folder.path()}, {"checkpoint_every", "3"}}), "");
}

TEST(SimulatedCheckpoints, ThatAreDamagedEndTheRunBeforeItBegins) {
  const ScratchFolder folder;
  ASSERT_TRUE(RunIn(folder.path(), {}).ok());
  const std::string part = folder.File("checkpoints/round-8/node-2.safetensors");
  std::string bytes = FileText(part);
  bytes.back() ^= 1;
  std::ofstream(part, std::ios::binary) << bytes;
  const auto resumed = RunIn(folder.path(), {{"resume", CheckpointPath(folder.path(), 8)}});
  EXPECT_EQ(FailureOf(resumed.status()), Failure::kInput);
  EXPECT_THAT(std::string(resumed.status().message()), HasSubstr("node-2.safetensors"));
}

TEST(SimulatedCheckpoints, ThatAreDamagedLeaveTheLaterOnesAlone) {
  const ScratchFolder folder;
  ASSERT_TRUE(RunIn(folder.path(), {}).ok());
  const std::string before = FileText(folder.File("metrics.jsonl"));
  folder.Write("checkpoints/round-6/node-2.safetensors", "none");
  const std::string older = folder.File("checkpoints/round-6");
  EXPECT_EQ(FailureOf(RunIn(folder.path(), {{"resume", older}}).status()), Failure::kInput);
  EXPECT_EQ(FindCheckpoint(folder.path())->manifest.round(), 8);
  EXPECT_EQ(FileText(folder.File("metrics.jsonl")), before);
  EXPECT_TRUE(HasResults(folder.path()));
}

}  // namespace
}  // namespace grapevine
