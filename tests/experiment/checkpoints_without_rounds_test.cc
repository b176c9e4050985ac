// Runs whose nodes go through no rounds together keep checkpoints between two views, and go on from
// them, in either world from those of the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "experiment/core/other_nodes.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/checkpoint/checkpoint_files.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"
#include "tests/experiment/checkpointed_runs.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Round kNominalRounds = 200;

std::vector<std::string> SpecsWithoutRounds() {
  std::vector<std::string> specs;
  for (const std::string& spec : testing::ExamplesOf(Algorithms())) {
    if (!HasRounds(spec)) specs.push_back(spec);
  }
  return specs;
}

std::vector<Round> MeasuredRounds(const std::string& folder) {
  const auto lines = ReadLinesUntil(MetricsPath(folder), kNominalRounds);
  EXPECT_TRUE(lines.ok()) << lines.status();
  std::vector<Round> rounds;
  for (const std::string& line : *lines) {
    const auto metrics = RunMetricsFromJson(line);
    EXPECT_TRUE(metrics.ok()) << line;
    rounds.push_back(metrics->round);
  }
  return rounds;
}

class CheckpointsWithoutRounds : public ::testing::TestWithParam<std::string> {
 protected:
  CheckpointsWithoutRounds()
      : settings_{{"algorithm", GetParam()},
                  {"optimizer", Algorithms().Read(GetParam())->kind->optimizer},
                  {"nodes", "5"},
                  {"rounds", absl::StrCat(kNominalRounds)},
                  {"checkpoint_every", "40"}},
        workers_(*WorkerCount(GetParam(), 5)) {
    if (settings_["optimizer"].empty()) settings_["optimizer"] = "sgd";
  }

  // All gradients of the workers until then are in the weights of every server.
  void ExpectOneMoment(const Checkpoint& checkpoint) const {
    const CheckpointManifest& manifest = checkpoint.manifest;
    EXPECT_LT(manifest.round(), kNominalRounds) << "nobody could go on from there";
    Round steps = 0;
    for (Rank rank = 0; rank < workers_; ++rank) {
      const auto state = ReadNodePart(checkpoint, rank);
      ASSERT_TRUE(state.ok()) << state.status();
      EXPECT_EQ(state->round, RoundsIn(manifest, manifest.nodes(rank)));
      steps += state->round;
    }
    EXPECT_GE(steps, manifest.round() * workers_);
    EXPECT_LE(steps, kNominalRounds * workers_);
    for (Rank server = workers_; server < 5; ++server) {
      const auto state = ReadNodePart(checkpoint, server);
      ASSERT_TRUE(state.ok()) << state.status();
      EXPECT_EQ(state->numbers.at("gradients"), static_cast<double>(steps));
    }
  }

  using How = std::function<absl::StatusOr<Summary>(const std::string&, const Settings&)>;
  // `settings` have what is to be resumed; `whole` never stopped.
  void ExpectThatItGoesOn(const How& how, const std::string& run, const Settings& settings,
                          const Summary& whole) {
    const CheckpointManifest manifest = FindCheckpoint(settings.at("resume"))->manifest;
    const auto resumed = how(run, settings);
    ASSERT_TRUE(resumed.ok()) << resumed.status();
    int64_t sent = 0;
    for (const CheckpointPart& part : manifest.nodes()) sent += part.bytes_sent();
    EXPECT_GE(*resumed->bytes_sent_total, sent);
    if (workers_ < 5) {
      EXPECT_GE(resumed->server_links->bytes_received[0], manifest.nodes(workers_).bytes_received())
          << "also where its updates count from 0 again";
    }
    EXPECT_EQ(resumed->rounds, kNominalRounds);
    EXPECT_LT(*resumed->test_loss, 1.3 * *whole.test_loss);
    std::vector<Round> all(kNominalRounds);
    std::iota(all.begin(), all.end(), 1);
    EXPECT_EQ(MeasuredRounds(run), all);
  }

  const ScratchFolder folder_;
  Settings settings_;
  const Rank workers_;
};

TEST_P(CheckpointsWithoutRounds, AreOfOneMomentAndEitherWorldGoesOnFromThem) {
  const How real = Train, simulated = Simulate;
  for (const auto& [world, begin, go_on] :
       {std::tuple("real", real, simulated), std::tuple("simulated", simulated, real)}) {
    SCOPED_TRACE(world);
    const std::string run = folder_.File(world);
    const auto summary = begin(run, settings_);
    ASSERT_TRUE(summary.ok()) << summary.status();
    ASSERT_TRUE(summary->gradients.has_value());
    EXPECT_NEAR(summary->gradients->mean, kNominalRounds, 1e-9) << "none counts that was given up";
    const auto checkpoint = FindCheckpoint(run);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
    ExpectOneMoment(*checkpoint);
    Settings settings = settings_;
    settings["resume"] = CheckpointPath(run, checkpoint->manifest.round());
    ExpectThatItGoesOn(go_on, run, settings, *summary);
  }
}

// At the mean, in the round of the checkpoint.
TEST_P(CheckpointsWithoutRounds, GoOnWithMoreOrFewer) {
  const std::string whole = folder_.File("whole");
  const auto summary = Simulate(whole, settings_);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto checkpoint = FindCheckpoint(whole);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  const How real = Train, simulated = Simulate;
  for (const auto& [nodes, go_on] : {std::pair(7, real), std::pair(4, simulated)}) {
    SCOPED_TRACE(absl::StrCat(nodes, " nodes"));
    const std::string run = absl::StrCat(whole, "-", nodes);
    std::filesystem::copy(whole, run, std::filesystem::copy_options::recursive);
    Settings settings = settings_;
    settings["resume"] = CheckpointPath(run, checkpoint->manifest.round());
    settings["nodes"] = absl::StrCat(nodes);
    settings["planned_nodes"] = "5";
    ExpectThatItGoesOn(go_on, run, settings, *summary);
  }
}

INSTANTIATE_TEST_SUITE_P(Registered, CheckpointsWithoutRounds,
                         ::testing::ValuesIn(SpecsWithoutRounds()), testing::SpecTestName);

// What it does not say is what it has: of a checkpoint whose model is missing, too.
TEST(CheckpointsOfServers, HaveTheirWeightsSideBySideAsTheirModel) {
  const ScratchFolder folder;
  const Settings settings{{"algorithm", "ps:async:servers=2"},
                          {"nodes", "5"},
                          {"optimizer", "sgd"},
                          {"rounds", "40"},
                          {"checkpoint_every", "10"}};
  ASSERT_TRUE(Simulate(folder.path(), settings).ok());
  Checkpoint checkpoint = *FindCheckpoint(folder.path());
  const auto experiment = CheckpointedExperiment(settings);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const auto written = MeanOf(checkpoint, **experiment);
  ASSERT_TRUE(written.ok()) << written.status();
  checkpoint.manifest.clear_model();
  const auto joined = MeanOf(checkpoint, **experiment);
  ASSERT_TRUE(joined.ok()) << joined.status();
  EXPECT_TRUE(std::ranges::equal(joined->span(), written->span()));
  const NodeState first = *ReadNodePart(checkpoint, 3), second = *ReadNodePart(checkpoint, 4);
  std::vector<float> shards(first.vectors.at("shard").span().begin(),
                            first.vectors.at("shard").span().end());
  std::ranges::copy(second.vectors.at("shard").span(), std::back_inserter(shards));
  EXPECT_TRUE(std::ranges::equal(joined->span(), shards));
}

// By the time as well, and when the run is to end.
TEST(CheckpointsOfServers, ComeByTheTime) {
  const ScratchFolder folder;
  const Settings settings{{"algorithm", "downpour"},
                          {"nodes", "5"},
                          {"optimizer", "sgd"},
                          {"rounds", "400"},
                          {"checkpoint_every", "1ms"}};
  const auto summary = Train(folder.path(), settings);
  ASSERT_TRUE(summary.ok()) << summary.status();
  const auto checkpoint = FindCheckpoint(folder.path());
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status();
  EXPECT_GT(checkpoint->manifest.round(), 0);
  EXPECT_LT(checkpoint->manifest.round(), 400);
}

}  // namespace
}  // namespace grapevine
