// --norms, from the settings to the nodes' metrics: real and simulated nodes measure the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using testing::FileText;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using Settings = std::map<std::string, std::string>;

// 4 nodes, 8 rounds, evaluated after 4 and 8.
absl::StatusOr<std::unique_ptr<Experiment>> BuildNormed(Settings settings) {
  settings.insert({{"nodes", "4"},
                   {"model", "softmax"},
                   {"compute", "1ms"},
                   {"batch", "8"},
                   {"rounds", "8"},
                   {"log_every", "2"},
                   {"eval_every", "0.5"},
                   {"seed", "1"},
                   {"norms", "true"}});
  if (settings["model"] == "softmax") settings.insert({"data", "synthetic:train=256:test=64"});
  const auto resolved = ResolveConfig({.flags = settings});
  if (!resolved.ok()) return resolved.status();
  return Experiment::Build(resolved->config);
}

std::string InFolder(const ScratchFolder& folder, const std::string& name) {
  const std::string path = folder.File(name);
  std::filesystem::create_directory(path);
  return path;
}

// The lines of a node, by round.
std::map<int64_t, NodeMetrics> LinesOf(const std::string& run, int rank) {
  std::map<int64_t, NodeMetrics> lines;
  std::istringstream text(FileText(absl::StrCat(run, "/node-", rank, "/metrics.jsonl")));
  for (std::string line; std::getline(text, line);) {
    const absl::StatusOr<NodeMetrics> metrics = NodeMetricsFromJson(line);
    EXPECT_TRUE(metrics.ok()) << metrics.status();
    if (metrics.ok()) lines[metrics->round] = *metrics;
  }
  return lines;
}

// "4: weight 1.25 0.5", of all tensors of all lines, to the bit.
std::vector<std::string> NormsOf(const std::string& run, int rank) {
  std::vector<std::string> norms;
  for (const auto& [round, line] : LinesOf(run, rank)) {
    for (const TensorNorms& norm : line.norms) {
      norms.push_back(
          absl::StrFormat("%d: %s %.17g %.17g", round, norm.tensor, norm.weights, norm.gradient));
    }
  }
  return norms;
}

// The folder of a real and of a simulated run.
struct BothWorlds {
  std::string real, simulated;
};

BothWorlds RunBoth(const Settings& settings, const ScratchFolder& folder, const std::string& name) {
  const BothWorlds runs{InFolder(folder, name + "-real"), InFolder(folder, name + "-simulated")};
  const auto experiment = BuildNormed(settings);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  const auto trained = RunInThreads(**experiment, {.run_directory = runs.real});
  EXPECT_TRUE(trained.ok()) << trained.status();
  const auto predicted = SimulatedRun(experiment->get(), {.run_directory = runs.simulated}).Run();
  EXPECT_TRUE(predicted.ok()) << predicted.status();
  return runs;
}

TEST(Norms, AreTheSameRealAndSimulated) {
  const ScratchFolder folder;
  const std::map<std::string, Settings> cases = {
      {"gossip", {}},
      {"buckets", {{"algorithm", "allreduce:buckets=3"}}},
      {"accumulated", {{"batch", "4"}, {"accumulate", "2"}, {"clip_norm", "0.1"}}},
      {"servers", {{"algorithm", "ps:servers=2"}, {"eval_every", "0.25"}}}};
  for (const auto& [name, settings] : cases) {
    const BothWorlds runs = RunBoth(settings, folder, name);
    for (const int rank : {0, 1}) {
      const std::vector<std::string> norms = NormsOf(runs.real, rank);
      EXPECT_THAT(norms, SizeIs(4)) << name << ": two tensors, two evaluations";
      EXPECT_EQ(norms, NormsOf(runs.simulated, rank)) << name;
    }
    EXPECT_NE(NormsOf(runs.real, 0), NormsOf(runs.real, 1)) << name << ": each has its own data";
  }
}

TEST(Norms, AreThoseOfEvaluatedRounds) {
  const ScratchFolder folder;
  const BothWorlds runs = RunBoth({}, folder, "run");
  for (const std::string& run : {runs.real, runs.simulated}) {
    std::vector<int64_t> measured, lines;
    for (const auto& [round, line] : LinesOf(run, 0)) {
      lines.push_back(round);
      if (line.norms.empty()) continue;
      measured.push_back(round);
      ASSERT_THAT(line.norms, SizeIs(2));
      EXPECT_EQ(line.norms[0].tensor, "fc.weight");
      EXPECT_EQ(line.norms[0].dimensions, 2);
      EXPECT_EQ(line.norms[1].tensor, "fc.bias");
      EXPECT_EQ(line.norms[1].dimensions, 1);
    }
    EXPECT_THAT(lines, ElementsAre(2, 4, 6, 8));
    EXPECT_THAT(measured, ElementsAre(4, 8));
  }
}

// At a distance of 1 from the optimum in each of 100 coordinates, along which the slope is the
// distance; clipping takes the gradient's norm from 10 to 3.
TEST(Norms, AreOfTheGradientAsItIsApplied) {
  const ScratchFolder folder;
  Settings settings = {{"model", "quadratic:dim=100:noise=0:start=1"}, {"lr", "1e-9"}};
  const BothWorlds plain = RunBoth(settings, folder, "plain");
  settings["clip_norm"] = "3";
  const BothWorlds clipped = RunBoth(settings, folder, "clipped");
  const auto gradient = [](const std::string& run) {
    const std::map<int64_t, NodeMetrics> lines = LinesOf(run, 0);
    return lines.at(8).norms.at(0).gradient;
  };
  EXPECT_NEAR(gradient(plain.real), 10, 1e-4);
  EXPECT_NEAR(gradient(plain.simulated), 10, 1e-4);
  EXPECT_NEAR(gradient(clipped.real), 3, 1e-4);
  EXPECT_NEAR(gradient(clipped.simulated), 3, 1e-4);
}

TEST(Norms, LeaveTheWeightsAsTheyAre) {
  const ScratchFolder folder;
  const Settings settings = {{"algorithm", "allreduce:buckets=3"}};
  Settings without = settings;
  without["norms"] = "false";
  const BothWorlds measured = RunBoth(settings, folder, "measured");
  const BothWorlds plain = RunBoth(without, folder, "plain");
  const auto model = [](const std::string& run) { return FileText(run + "/model.safetensors"); };
  EXPECT_TRUE(model(measured.real) == model(plain.real));
  EXPECT_TRUE(model(measured.simulated) == model(plain.simulated));
  EXPECT_THAT(NormsOf(plain.real, 0), IsEmpty());
  EXPECT_THAT(NormsOf(plain.simulated, 0), IsEmpty());
}

// A node measures its own gradients whose numbers are those of evaluated rounds: a fast one early.
TEST(Norms, AreThereWhereNodesShareABudget) {
  const ScratchFolder folder;
  const BothWorlds runs = RunBoth({{"algorithm", "adpsgd"}}, folder, "run");
  for (const std::string& run : {runs.real, runs.simulated}) {
    // One of the nodes has computed its share of the 32 gradients, whichever it is.
    std::vector<std::string> norms;
    for (const int rank : {0, 1, 2, 3}) {
      for (const std::string& norm : NormsOf(run, rank)) norms.push_back(norm);
    }
    EXPECT_THAT(norms, Not(IsEmpty())) << run;
  }
}

TEST(Norms, NeedAModelThatLearns) {
  const absl::Status status = BuildNormed({{"model", "phantom:1MB"}, {"rounds", "3"}}).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  EXPECT_EQ(status.message(),
            "--norms=true: --model=phantom:1MB learns nothing; drop it or choose another model");
}

}  // namespace
}  // namespace grapevine
