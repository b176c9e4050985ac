// Runs with every optimizer: they learn, nodes and the simulator end with the same bits, and
// servers that share a replica with those of one that has it whole, or are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using Flags = std::map<std::string, std::string>;

absl::StatusOr<std::unique_ptr<Experiment>> Build(Flags flags) {
  flags.insert({{"nodes", "3"},
                {"topology", "ring"},
                {"model", "softmax"},
                {"compute", "1ms"},
                {"rounds", "40"},
                {"seed", "1"}});
  if (flags["model"] == "softmax") flags["data"] = "synthetic:train=512:test=200";
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return Experiment::Build(resolved->config);
}

// The summary of a simulated run, whose files are in `folder`.
Summary Simulated(const Flags& flags, const std::string& folder) {
  std::filesystem::create_directory(folder);
  const auto experiment = Build(flags);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<Summary> summary =
      SimulatedRun(experiment->get(), {.run_directory = folder}).Run();
  EXPECT_TRUE(summary.ok()) << summary.status();
  return *summary;
}

struct Rule {
  const char* spec;
  const char* lr;
};

class OptimizerRuns : public ::testing::TestWithParam<Rule> {};

TEST_P(OptimizerRuns, LearnWithTheSameBitsOnNodesAndInTheSimulator) {
  const ScratchFolder folder;
  const std::string trained = folder.File("trained"), simulated = folder.File("simulated");
  const Flags flags = {{"optimizer", GetParam().spec}, {"lr", GetParam().lr}};
  const Summary virtual_one = Simulated(flags, simulated);
  EXPECT_GT(virtual_one.test_accuracy, 0.45);  // ten classes

  std::filesystem::create_directory(trained);
  const auto experiment = Build(flags);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<Summary> real = RunInThreads(**experiment, {.run_directory = trained});
  ASSERT_TRUE(real.ok()) << real.status();
  for (const char* model : {"/model.safetensors", "/node-2/model.safetensors"}) {
    EXPECT_TRUE(FileText(trained + model) == FileText(simulated + model)) << model;
  }
}

TEST(OptimizerFit, RefusesAnOptimizerWithWhichAnAlgorithmIsAnother) {
  const absl::Status status = Build({{"algorithm", "eamsgd:every=4"}}).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  EXPECT_EQ(std::string(status.message()),
            "--algorithm=eamsgd:every=4: its local steps are those of nesterov, not of sgd; add "
            "--optimizer=nesterov");
  EXPECT_TRUE(Build({{"algorithm", "eamsgd:every=4"}, {"optimizer", "nesterov"}}).ok());
  EXPECT_TRUE(Build({{"algorithm", "easgd:every=4"}}).ok());
  const absl::Status still =
      Build({{"algorithm", "eamsgd"}, {"optimizer", "nesterov"}, {"momentum", "0"}}).status();
  EXPECT_THAT(std::string(still.message()),
              ::testing::HasSubstr("Nesterov needs a momentum greater than 0"));
}

INSTANTIATE_TEST_SUITE_P(Each, OptimizerRuns,
                         ::testing::Values(Rule{"sgd", "0.05"}, Rule{"adam", "0.01"},
                                           Rule{"adamw:weight_decay=0.01", "0.01"},
                                           Rule{"adagrad", "0.03"}, Rule{"lars:trust=0.05", "1"},
                                           Rule{"lamb:weight_decay=0.01", "0.1"}),
                         [](const auto& info) {
                           const std::string spec = info.param.spec;
                           return spec.substr(0, spec.find(':'));
                         });

// Beside the mix: gradient, result, state twice, and what is read for norms.
TEST(OptimizersInTheSimulator, TakeTheTimeOfTheVectorsThatTheyMove) {
  constexpr int kRounds = 10;
  const auto seconds = [](const char* optimizer) {
    const ScratchFolder folder;
    return *Simulated({{"optimizer", optimizer},
                       {"nodes", "2"},
                       {"model", "phantom:10MB"},
                       {"compute", "100ms"},
                       {"memory_bandwidth", "8Gbit"},  // a vector in 10 ms
                       {"rounds", std::to_string(kRounds)}},
                      folder.File("run"))
                .simulated_time_s;
  };
  const double plain = seconds("sgd:momentum=0");
  const std::map<std::string, int> extra = {{"sgd", 2},     {"adam", 4}, {"adamw", 4},
                                            {"adagrad", 2}, {"lars", 4}, {"lamb", 8}};
  for (const auto& [optimizer, vectors] : extra) {
    EXPECT_NEAR(seconds(optimizer.c_str()) - plain, kRounds * vectors * 0.01, 1e-6) << optimizer;
  }
}

TEST(OptimizersOnServers, HaveTheSameBitsWithEveryNumberOfServers) {
  const ScratchFolder folder;
  const auto run = [&](const std::string& optimizer, const char* nodes,
                       const std::string& algorithm) {
    const std::string path = folder.File(optimizer + nodes);
    Simulated({{"optimizer", optimizer},
               {"lr", "0.003"},
               {"nodes", nodes},
               {"rounds", "5"},
               {"algorithm", algorithm}},
              path);
    return FileText(path + "/model.safetensors");
  };
  for (const char* optimizer : {"adam", "adamw:weight_decay=0.01", "adagrad"}) {
    EXPECT_TRUE(run(optimizer, "4", "ps") == run(optimizer, "6", "ps:servers=3")) << optimizer;
  }
}

TEST(OptimizersOnServers, AServerThatWouldCutATensorIsRefusedForRulesWithNorms) {
  const auto refusal = [](const char* optimizer, const char* algorithm) {
    const absl::Status status =
        Build({{"nodes", "4"}, {"optimizer", optimizer}, {"algorithm", algorithm}}).status();
    if (!status.ok()) {
      EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    }
    return std::string(status.message());
  };
  EXPECT_EQ(refusal("lars", "ps:servers=2"),
            "--optimizer=lars: needs the norms of whole tensors, and a server of "
            "--algorithm=ps:servers=2 would hold a part of fc.weight; take "
            "--algorithm=ps:servers=1, or an optimizer without norms (--optimizer=adam, say)");
  EXPECT_EQ(refusal("lamb", "ps:servers=1"), "");
  EXPECT_EQ(refusal("lamb", "allreduce:buckets=3"), "");
  EXPECT_EQ(refusal("adam", "ps:servers=2"), "");
}

}  // namespace
}  // namespace grapevine
