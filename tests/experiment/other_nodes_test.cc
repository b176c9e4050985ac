// Runs that go on with other nodes than their checkpoint has: more, fewer, or after some were lost.
#include "experiment/core/other_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "model/files/safetensors.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/config/config_file.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"
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

// A copy of a run of 4 nodes that goes on with others.
Settings GoingOn(const std::string& from, Round round, int nodes, Settings settings = {}) {
  settings.insert({{"resume", CheckpointPath(from, round)}, {"nodes", absl::StrCat(nodes)}});
  if (nodes != 4) settings.insert({"planned_nodes", "4"});
  return settings;
}

void Copy(const std::string& from, const std::string& to) {
  std::filesystem::copy(from, to, std::filesystem::copy_options::recursive);
}

std::vector<float> ModelIn(const std::string& folder, const Experiment& experiment) {
  std::vector<float> model(experiment.layout().size);
  const auto file = Safetensors::Open(folder + "/model.safetensors");
  EXPECT_TRUE(file.ok()) << file.status();
  if (!file.ok()) return model;
  const absl::Status loaded = file->Load(experiment.layout(), model.data());
  EXPECT_TRUE(loaded.ok()) << loaded;
  return model;
}

// In double precision.
std::vector<double> MeanOfParts(const Checkpoint& checkpoint, const std::vector<Rank>& ranks) {
  std::vector<double> mean;
  for (const Rank rank : ranks) {
    const NodeState state = *ReadNodePart(checkpoint, rank);
    const SharedVector& model = state.vectors.at(state.model);
    mean.resize(model.size);
    for (int64_t i = 0; i < model.size; ++i) mean[i] += model.span()[i];
  }
  for (double& element : mean) element /= static_cast<double>(ranks.size());
  return mean;
}

template <typename Model>
double LargestDifference(const Model& model, const std::vector<double>& mean) {
  double largest = 0;
  for (size_t i = 0; i < mean.size(); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(model[i]) - mean[i]));
  }
  return largest;
}

std::vector<RunMetrics> Measured(const std::string& run) {
  std::vector<RunMetrics> measured;
  std::istringstream text(FileText(run + "/metrics.jsonl"));
  for (std::string line; std::getline(text, line);) measured.push_back(*RunMetricsFromJson(line));
  return measured;
}

// A run whose learning rate is nothing from its middle on: what it begins with then is what it
// ends with.
TEST(OtherNodes, BeginAtTheMeanWhateverTheirNumbersAndTheRound) {
  const ScratchFolder folder;
  const auto seed = std::random_device()();
  std::mt19937 random(seed);
  for (int trial = 0; trial < 8; ++trial) {
    const auto draw = [&](int least, int most) {
      return std::uniform_int_distribution(least, most)(random);
    };
    const int nodes = draw(2, 7), others = draw(2, 7);
    const Round round = draw(6, 10);
    SCOPED_TRACE(::testing::Message() << "seed " << seed << ", trial " << trial << ", " << nodes
                                      << " nodes, then " << others << ", after round " << round);
    if (nodes == others) continue;
    const std::string run = folder.File(absl::StrCat("run-", trial));
    Settings settings{{"nodes", absl::StrCat(nodes)},
                      {"rounds", "12"},
                      {"schedule", "step:at=50%:factor=1e-9"},
                      {"split", draw(0, 1) == 0 ? "iid" : "label"},
                      {"checkpoint_every", absl::StrCat(round)}};
    ASSERT_TRUE(Simulate(run, settings).ok());
    const Checkpoint checkpoint = *FindCheckpoint(CheckpointPath(run, round));
    const std::vector<double> mean = MeanOfParts(checkpoint, MembersOf(checkpoint.manifest));

    settings["planned_nodes"] = settings["nodes"];
    settings["nodes"] = absl::StrCat(others);
    settings["resume"] = checkpoint.path;
    const auto experiment = CheckpointedExperiment(settings);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    const auto begun = MeanOf(checkpoint, **experiment);
    ASSERT_TRUE(begun.ok()) << begun.status();
    EXPECT_LT(LargestDifference(begun->span(), mean), 1e-6);

    const auto resumed = trial % 2 == 0 ? Simulate(run, settings) : Train(run, settings);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_LT(LargestDifference(ModelIn(run, **experiment), mean), 1e-6);
    for (Rank rank = 0; rank < others; ++rank) {
      EXPECT_LT(LargestDifference(ModelIn(NodeDirectory(run, rank), **experiment), mean), 1e-6);
    }
  }
}

class OtherNumber : public ::testing::TestWithParam<std::string> {};

// With more and with fewer; real nodes with the bits of simulated ones.
TEST_P(OtherNumber, OfNodesGoesOnInBothWorlds) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole");
  Settings settings{{"algorithm", GetParam()}};
  const std::string& rule = Algorithms().Read(GetParam())->kind->optimizer;
  if (!rule.empty()) settings["optimizer"] = rule;
  const auto begun = Simulate(whole, settings);
  ASSERT_TRUE(begun.ok()) << begun.status();
  const auto go_on = [&](auto how, const std::string& run, int nodes) {
    Copy(whole, run);
    const auto summary = how(run, GoingOn(run, 6, nodes, settings));
    EXPECT_TRUE(summary.ok()) << nodes << " nodes: " << summary.status();
    if (!summary.ok()) return Summary();
    EXPECT_EQ(summary->rounds, 9);
    EXPECT_EQ(summary->nodes, nodes);
    EXPECT_GE(*summary->bytes_sent_total, *Measured(whole)[5].bytes_sent_total);
    return *summary;
  };
  go_on(Simulate, folder.File("more"), 6);
  const std::string real = folder.File("real"), simulated = folder.File("simulated");
  const Summary trained = go_on(Train, real, 3), summary = go_on(Simulate, simulated, 3);
  EXPECT_EQ(trained.epochs, summary.epochs);
  EXPECT_EQ(trained.bytes_sent_total, summary.bytes_sent_total);
  EXPECT_TRUE(FileText(real + "/model.safetensors") == FileText(simulated + "/model.safetensors"));
  for (Rank rank = 0; rank < 3; ++rank) {
    const std::string part = absl::StrCat("/checkpoints/round-8/node-", rank, ".safetensors");
    EXPECT_TRUE(FileText(real + part) == FileText(simulated + part)) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, OtherNumber, ::testing::ValuesIn(SynchronousSpecs()),
                         testing::SpecTestName);

TEST(OtherNodes, ContinueTheFilesOfTheRun) {
  const ScratchFolder folder;
  const std::string whole = folder.File("whole"), run = folder.File("run");
  ASSERT_TRUE(Simulate(whole, {}).ok());
  const std::vector<RunMetrics> before = Measured(whole);
  const double round_of_4 = 4 * 8 / 256.0, round_of_2 = 2 * 8 / 256.0;
  for (const bool real : {false, true}) {
    SCOPED_TRACE(real ? "real" : "simulated");
    std::filesystem::remove_all(run);
    Copy(whole, run);
    const auto summary = (real ? Train : Simulate)(run, GoingOn(run, 6, 2));
    ASSERT_TRUE(summary.ok()) << summary.status();
    const std::vector<RunMetrics> after = Measured(run);
    ASSERT_EQ(after.size(), 9u);
    for (size_t i = 0; i < 9; ++i) {
      const double done = static_cast<double>(i) + 1;
      if (i < 6) {
        EXPECT_EQ(ToJsonLine(after[i]), ToJsonLine(before[i]));
      }
      EXPECT_EQ(after[i].learning_rate, before[i].learning_rate) << "as it was planned";
      EXPECT_EQ(after[i].living, i < 6 ? std::nullopt : std::optional<int64_t>(2));
      EXPECT_EQ(after[i].test_accuracy.has_value(), before[i].test_accuracy.has_value());
      EXPECT_DOUBLE_EQ(after[i].epoch,
                       i < 6 ? done * round_of_4 : 6 * round_of_4 + (done - 6) * round_of_2);
      if (i > 0) {
        EXPECT_GT(after[i].bytes_sent_total, after[i - 1].bytes_sent_total);
      }
      if (i > 0) {
        EXPECT_GE(after[i].time_s, after[i - 1].time_s);
      }
    }
    const auto config = ReadConfigFile(ConfigPath(run));
    ASSERT_TRUE(config.ok()) << config.status();
    EXPECT_EQ(config->config.nodes(), 2);
    EXPECT_EQ(config->config.planned_nodes(), 4);
    // Of those who are no more.
    EXPECT_EQ(std::ranges::count(FileText(run + "/node-3/metrics.jsonl"), '\n'), 6);
    EXPECT_FALSE(std::filesystem::exists(run + "/node-3/model.safetensors"));
    EXPECT_FALSE(std::filesystem::exists(run + "/checkpoints/round-8/node-3.safetensors"));
    EXPECT_TRUE(std::filesystem::exists(run + "/checkpoints/round-8/node-1.safetensors"));
    EXPECT_EQ(std::ranges::count(FileText(run + "/node-1/metrics.jsonl"), '\n'), 9);
  }
}

// What is kept of a run that has changed its nodes is as good as of any other; and it may change
// them again.
TEST(OtherNodes, MayBeStoppedAndGoOnWithTheSameBits) {
  const ScratchFolder folder;
  for (const bool real : {false, true}) {
    SCOPED_TRACE(real ? "real" : "simulated");
    const auto run = real ? Train : Simulate;
    const std::string whole = folder.File(real ? "real" : "simulated"),
                      stopped = whole + "-stopped";
    Settings settings{{"rounds", "12"}};
    ASSERT_TRUE(run(whole, settings).ok());
    ASSERT_TRUE(run(whole, GoingOn(whole, 10, 5, settings)).ok());
    settings["checkpoint_every"] = "1";
    const auto finished = run(whole, GoingOn(whole, 10, 3, settings));
    ASSERT_TRUE(finished.ok()) << finished.status();
    Copy(whole, stopped);
    const auto resumed = run(stopped, GoingOn(stopped, 11, 3, settings));
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_TRUE(FileText(whole + "/model.safetensors") == FileText(stopped + "/model.safetensors"));
    for (const char* part : {"node-0", "node-2", "model"}) {
      const std::string path = absl::StrCat("/checkpoints/round-12/", part, ".safetensors");
      EXPECT_TRUE(FileText(whole + path) == FileText(stopped + path)) << path;
    }
    EXPECT_EQ(resumed->epochs, finished->epochs);
    EXPECT_EQ(resumed->bytes_sent_total, finished->bytes_sent_total);
  }
}

TEST(OtherNodes, AreTakenByTheMeanOfThePartsWhereThereIsNoAveragedModel) {
  const ScratchFolder folder;
  ASSERT_TRUE(Simulate(folder.path(), {}).ok());
  Checkpoint checkpoint = *FindCheckpoint(CheckpointPath(folder.path(), 6));
  const auto experiment = CheckpointedExperiment(GoingOn(folder.path(), 6, 3));
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const SharedVector model = *MeanOf(checkpoint, **experiment);
  checkpoint.manifest.clear_model();
  const SharedVector parts = *MeanOf(checkpoint, **experiment);
  EXPECT_TRUE(std::ranges::equal(model.span(), parts.span()));
}

std::string Refusal(const absl::Status& status, Failure failure) {
  EXPECT_EQ(FailureOf(status), failure) << status;
  return std::string(status.message());
}

TEST(OtherNodes, RefuseWhatIsTornOrMissing) {
  const ScratchFolder folder;
  ASSERT_TRUE(Simulate(folder.path(), {}).ok());
  const Checkpoint checkpoint = *FindCheckpoint(CheckpointPath(folder.path(), 8));
  const Settings settings = GoingOn(folder.path(), 8, 3);
  const auto experiment = CheckpointedExperiment(settings);
  const std::string metrics = FileText(folder.File("metrics.jsonl"));
  const std::string model = ModelPartPath(checkpoint.path), bytes = FileText(model);
  const std::string remedy = "the checkpoint of round 8 is damaged, go on from the one before it";
  for (const size_t size : {bytes.size() - 4, size_t{0}}) {
    std::ofstream(model, std::ios::binary) << bytes.substr(0, size);
    for (const auto& run : {Simulate, Train}) {
      EXPECT_THAT(Refusal(run(folder.path(), settings).status(), Failure::kInput),
                  AllOf(HasSubstr("model.safetensors"), HasSubstr(remedy)));
    }
  }
  std::string flipped = bytes;
  flipped.back() ^= 1;
  std::ofstream(model, std::ios::binary) << flipped;
  EXPECT_THAT(Refusal(CheckGoesOn(**experiment).status(), Failure::kInput),
              AllOf(HasSubstr("model.safetensors: is not what was written"), HasSubstr(remedy)));
  std::filesystem::remove(model);
  EXPECT_THAT(Refusal(CheckGoesOn(**experiment).status(), Failure::kInput), HasSubstr(remedy));

  CheckpointManifest without = checkpoint.manifest;
  without.clear_model();
  std::ofstream(checkpoint.path + "/manifest.textproto") << ToText(without);
  EXPECT_TRUE(CheckGoesOn(**experiment).ok());
  const std::string part = NodePartPath(checkpoint.path, 3);
  std::ofstream(part, std::ios::app) << "x";
  EXPECT_THAT(Refusal(CheckGoesOn(**experiment).status(), Failure::kInput),
              AllOf(HasSubstr("node-3.safetensors"), HasSubstr(remedy)));
  std::filesystem::remove(part);
  EXPECT_THAT(Refusal(CheckGoesOn(**experiment).status(), Failure::kInput),
              AllOf(HasSubstr("node-3.safetensors"), HasSubstr(remedy)));
  EXPECT_EQ(FileText(folder.File("metrics.jsonl")), metrics) << "nothing is touched";
  EXPECT_EQ(FindCheckpoint(folder.path())->manifest.round(), 8);
}

TEST(OtherNodes, KeepTheOtherSettingsAndThePlan) {
  const ScratchFolder folder;
  ASSERT_TRUE(Simulate(folder.path(), {{"topology", "torus:2x2"}}).ok());
  Settings settings = GoingOn(folder.path(), 8, 6, {{"topology", "torus:2x3"}});
  EXPECT_TRUE(CheckGoesOn(**CheckpointedExperiment(settings)).ok())
      << "a graph of 6 nodes is another one";
  settings["lr"] = "0.5";
  EXPECT_THAT(Refusal(CheckGoesOn(**CheckpointedExperiment(settings)).status(), Failure::kUsage),
              HasSubstr("--lr was "));
  settings.erase("lr");
  settings.erase("planned_nodes");
  EXPECT_THAT(Refusal(CheckGoesOn(**CheckpointedExperiment(settings)).status(), Failure::kUsage),
              HasSubstr("the run was planned for 4 nodes, and is for 6 (add --planned-nodes=4 to "
                        "go on with 6)"));
  settings["nodes"] = "4";
  EXPECT_FALSE(CheckpointedExperiment(settings).ok() &&
               CheckGoesOn(**CheckpointedExperiment(settings)).ok())
      << "the same nodes have the same graph";
}

TEST(OtherNodes, HaveAGraphOfTheirOwn) {
  const ScratchFolder folder;
  const std::string graph = folder.Write("four.edges", "0 1\n1 2\n2 3\n3 0\n");
  const std::string run = folder.File("run");
  const Settings settings{{"topology", "file:" + graph}};
  ASSERT_TRUE(Simulate(run, settings).ok());
  EXPECT_THAT(
      Refusal(CheckpointedExperiment(GoingOn(run, 8, 6, settings)).status(), Failure::kUsage),
      HasSubstr("--topology=file:"));
}

TEST(OtherNodes, AreAskedForInResolvedSettings) {
  const ScratchFolder folder;
  const std::string file = folder.Write("config.textproto", "nodes: 4\n");
  const auto resolve = [&](Settings flags, bool resumes) {
    return ResolveConfig({.flags = std::move(flags), .file = file, .resumes = resumes});
  };
  EXPECT_EQ(resolve({{"resume", "run"}, {"nodes", "6"}}, true)->config.planned_nodes(), 4);
  EXPECT_FALSE(resolve({{"resume", "run"}}, true)->config.has_planned_nodes());
  EXPECT_FALSE(resolve({{"nodes", "6"}}, false)->config.has_planned_nodes());
  EXPECT_THAT(Refusal(resolve({{"planned_nodes", "4"}}, false).status(), Failure::kUsage),
              HasSubstr("--planned-nodes=4: is for a run that goes on"));
  folder.Write("config.textproto", "nodes: 4\nchaos: 'kill:rank=3:at=round:5'\n");
  EXPECT_EQ(resolve({{"resume", "run"}}, true)->config.chaos_size(), 1);
  EXPECT_EQ(resolve({{"resume", "run"}, {"nodes", "3"}}, true)->config.chaos_size(), 0);
  EXPECT_EQ(resolve({{"nodes", "3"}}, false)->config.chaos_size(), 1);
  folder.Write("config.textproto", "nodes: 6\nplanned_nodes: 4\n");
  EXPECT_EQ(resolve({{"resume", "run"}, {"nodes", "8"}}, true)->config.planned_nodes(), 4);
  EXPECT_EQ(resolve({{"resume", "run"}}, true)->config.planned_nodes(), 4);
  EXPECT_FALSE(resolve({}, false)->config.has_planned_nodes()) << "another run";
}

// Simulated runs that lose nodes.
Settings Mortal(const std::string& chaos) {
  return {{"nodes", "8"},
          {"data", "synthetic:train=512:test=64"},
          {"compute", "1ms"},
          {"rounds", "40"},
          {"checkpoint_every", "10"},
          {"on_failure", "shrink"},
          {"chaos", chaos}};
}

TEST(LostNodes, LeaveCheckpointsOfTheLiving) {
  const ScratchFolder folder;
  const Settings settings = Mortal("kill:rank=3:at=round:15,kill:rank=6:at=round:22");
  const auto whole = Simulate(folder.path(), settings);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const Checkpoint last = *FindCheckpoint(folder.path());
  EXPECT_EQ(last.manifest.round(), 40);
  EXPECT_THAT(MembersOf(last.manifest), ::testing::ElementsAre(0, 1, 2, 4, 5, 7));
  EXPECT_EQ(last.manifest.nodes_size(), 6);
  EXPECT_EQ(last.manifest.history_size(), 2);
  EXPECT_GT(last.manifest.lost_bytes_sent(), 0);
  EXPECT_FALSE(std::filesystem::exists(NodePartPath(last.path, 3)));
  const auto experiment = CheckpointedExperiment(settings);
  const std::vector<double> mean = MeanOfParts(last, MembersOf(last.manifest));
  EXPECT_LT(LargestDifference(ModelIn(last.path, **experiment), mean), 1e-6);
  const auto summary = ReadSummary(folder.path());
  EXPECT_TRUE(summary.ok()) << summary.status();
}

TEST(LostNodes, ComeBackOrStayAwayWhenTheRunGoesOn) {
  const ScratchFolder folder;
  Settings settings = Mortal("kill:rank=3:at=round:15,kill:rank=6:at=round:22");
  const std::string whole = folder.File("whole");
  ASSERT_TRUE(Simulate(whole, settings).ok());
  const std::vector<RunMetrics> before = Measured(whole);
  for (const int nodes : {8, 6, 3}) {
    for (const bool real : {false, true}) {
      SCOPED_TRACE(::testing::Message() << nodes << (real ? " real" : " simulated"));
      const std::string run = folder.File(absl::StrCat("run-", nodes, real ? "-real" : ""));
      Copy(whole, run);
      Settings again = settings;
      again.erase("chaos");
      again["nodes"] = absl::StrCat(nodes);
      if (nodes != 8) again["planned_nodes"] = "8";
      again["resume"] = CheckpointPath(run, 30);
      const auto summary = real ? Train(run, again) : Simulate(run, again);
      ASSERT_TRUE(summary.ok()) << summary.status();
      EXPECT_EQ(summary->rounds, 40);
      EXPECT_EQ(summary->nodes, nodes);
      const std::vector<RunMetrics> after = Measured(run);
      ASSERT_EQ(after.size(), 40u);
      EXPECT_EQ(after[29].epoch, before[29].epoch);
      EXPECT_DOUBLE_EQ(after[39].epoch, before[29].epoch + 10 * nodes * 8 / 512.0);
      EXPECT_TRUE(std::ranges::is_sorted(after, {}, &RunMetrics::bytes_sent_total));
      for (Rank rank = 0; rank < nodes; ++rank) {
        EXPECT_TRUE(std::filesystem::exists(NodeDirectory(run, rank) + "/model.safetensors"));
      }
      EXPECT_TRUE(FindCheckpoint(run)->manifest.members().empty());
    }
  }
}

// Servers stay, and are none of the workers that are left.
TEST(LostNodes, OfServersAreWorkers) {
  const ScratchFolder folder;
  for (const std::string algorithm : {"ps", "ps:async", "downpour:servers=2"}) {
    SCOPED_TRACE(algorithm);
    const std::string run = folder.File(algorithm);
    Settings settings = Mortal("kill:rank=3:at=round:15");
    settings["algorithm"] = algorithm;
    settings["optimizer"] = "sgd";
    ASSERT_TRUE(Simulate(run, settings).ok());
    Checkpoint checkpoint = *FindCheckpoint(run, /*before=*/40);
    EXPECT_EQ(checkpoint.manifest.members_size(), 7);
    settings.erase("chaos");
    const auto experiment = CheckpointedExperiment(settings);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    const EarlierTraffic traffic = TrafficUntil(checkpoint, **experiment);
    EXPECT_EQ(traffic.nodes[7].bytes_sent, checkpoint.manifest.nodes(6).bytes_sent());
    EXPECT_EQ(traffic.nodes[3].bytes_sent, 0);
    const auto written = MeanOf(checkpoint, **experiment);
    ASSERT_TRUE(written.ok()) << written.status();
    checkpoint.manifest.clear_model();
    const auto mean = MeanOf(checkpoint, **experiment);
    ASSERT_TRUE(mean.ok()) << mean.status();
    EXPECT_TRUE(std::ranges::equal(mean->span(), written->span()));
    settings["resume"] = checkpoint.path;
    const auto summary = Train(run, settings);
    ASSERT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(summary->rounds, 40);
  }
}

// Those that have come back are in what is saved after that.
TEST(LostNodes, AreInCheckpointsAgainWhenTheyAreBack) {
  const ScratchFolder folder;
  Settings settings = Mortal("kill:rank=3:at=round:15:back=20ms,kill:rank=6:at=round:65:back=3ms");
  settings["rounds"] = "140";
  const std::string whole = folder.File("whole");
  const auto summary = Simulate(whole, settings);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const Checkpoint last = *FindCheckpoint(whole);
  EXPECT_EQ(last.manifest.round(), 140);
  EXPECT_THAT(MembersOf(last.manifest), ::testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(last.manifest.members_size(), 8) << "it does not follow from their states alone";
  EXPECT_EQ(last.manifest.lost_bytes_sent(), 0) << "who is back counts on";
  EXPECT_EQ(last.manifest.history(last.manifest.history_size() - 1).workers(), 8);
  settings.erase("chaos");
  for (const bool real : {false, true}) {
    const std::string run = folder.File(real ? "real" : "simulated");
    Copy(whole, run);
    settings["resume"] = CheckpointPath(run, 130);
    const auto resumed = real ? Train(run, settings) : Simulate(run, settings);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    EXPECT_EQ(resumed->rounds, 140);
    EXPECT_TRUE(std::ranges::is_sorted(Measured(run), {}, &RunMetrics::bytes_sent_total));
  }
}

// Nobody was lost: a run of this policy goes on as any other, to the bit.
TEST(LostNodes, AreNoneWhereNobodyDied) {
  const ScratchFolder folder;
  Settings settings = Mortal("slow:rank=1:factor=2");
  const std::string whole = folder.File("whole"), stopped = folder.File("stopped");
  ASSERT_TRUE(Simulate(whole, settings).ok());
  Copy(whole, stopped);
  settings["resume"] = CheckpointPath(stopped, 30);
  const auto resumed = Simulate(stopped, settings);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_TRUE(FileText(stopped + "/model.safetensors") == FileText(whole + "/model.safetensors"));
}

// A loss in the evaluation of a round leaves no line of it that says more.
TEST(LostNodes, NeedNoEvaluationOnWhichNothingDepends) {
  const ScratchFolder folder;
  Settings settings = Mortal("kill:rank=3:at=round:15");
  ASSERT_TRUE(Simulate(folder.path(), settings).ok());
  std::string text;
  for (const RunMetrics& metrics : Measured(folder.path())) {
    if (metrics.round != 16) text += ToJsonLine(metrics) + "\n";
  }
  std::ofstream(folder.File("metrics.jsonl")) << text;
  settings["resume"] = CheckpointPath(folder.path(), 30);
  settings.erase("chaos");
  const auto resumed = Simulate(folder.path(), settings);
  EXPECT_TRUE(resumed.ok()) << resumed.status();
}

}  // namespace
}  // namespace grapevine
