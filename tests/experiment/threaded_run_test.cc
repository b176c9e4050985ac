#include "experiment/real/threaded_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/failure.h"
#include "experiment/core/experiment.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using ::testing::HasSubstr;

std::unique_ptr<Experiment> Built(std::map<std::string, std::string> flags) {
  flags.insert({{"nodes", "3"},
                {"topology", "ring"},
                {"model", "softmax"},
                {"data", "synthetic:train=512:test=200"},
                {"rounds", "8"}});
  const auto resolved = ResolveConfig({.flags = {flags.begin(), flags.end()}});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

TEST(ThreadedRun, GivesTheSimulatorsModels) {
  const ScratchFolder folder;
  const std::string trained = folder.File("trained"), simulated = folder.File("simulated");
  for (const std::string& run : {trained, simulated}) std::filesystem::create_directory(run);
  const auto experiment = Built({{"compute", "1ms"}});
  int64_t measured = 0;
  const absl::StatusOr<Summary> real = RunInThreads(
      *experiment, {.run_directory = trained,
                    .on_metrics = [&](const RunMetrics& metrics) { measured = metrics.round; }});
  ASSERT_TRUE(real.ok()) << real.status();
  SimulatedRun simulation(experiment.get(), {.run_directory = simulated});
  const absl::StatusOr<Summary> virtual_one = simulation.Run();
  ASSERT_TRUE(virtual_one.ok()) << virtual_one.status();

  EXPECT_EQ(measured, 8);
  EXPECT_EQ(real->stopped, "finished");
  EXPECT_EQ(real->test_accuracy, virtual_one->test_accuracy);
  EXPECT_DOUBLE_EQ(*real->consensus_distance, *virtual_one->consensus_distance);
  EXPECT_EQ(real->bytes_sent_total, virtual_one->bytes_sent_total);
  for (const char* model : {"/model.safetensors", "/node-2/model.safetensors"}) {
    EXPECT_TRUE(FileText(trained + model) == FileText(simulated + model)) << model;
  }
}

TEST(ThreadedRun, EndsWithTheFirstFailure) {
  const ScratchFolder folder;
  const auto experiment = Built({{"lr", "1e38"}, {"rounds", "1000"}});
  const absl::StatusOr<Summary> ended = RunInThreads(*experiment, {.run_directory = folder.path()});
  EXPECT_EQ(FailureOf(ended.status()), Failure::kDiverged) << ended.status();
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("the loss became"));
}

TEST(ThreadedRun, HasTheTimeOutsOfItsConfiguration) {
  const ScratchFolder folder;
  const auto resolved = ResolveConfig({.flags = {{"nodes", "2"},
                                                 {"model", "phantom:1kB"},
                                                 {"compute", "20s"},
                                                 {"rounds", "1"},
                                                 {"peer_timeout", "1s"},
                                                 {"step_timeout", "1s"}}});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  const auto experiment = Experiment::Build(resolved->config);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const absl::StatusOr<Summary> ended =
      RunInThreads(**experiment, {.run_directory = folder.path()});
  EXPECT_EQ(FailureOf(ended.status()), Failure::kPeerLost) << ended.status();
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("--step-timeout=1s"));
}

TEST(ThreadedRun, EndsWhenRankZeroCannotBegin) {
  const auto experiment = Built({});
  const absl::StatusOr<Summary> ended =
      RunInThreads(*experiment, {.run_directory = "/dev/null/nowhere"});
  EXPECT_EQ(FailureOf(ended.status()), Failure::kOutput) << ended.status();
  EXPECT_THAT(std::string(ended.status().message()), HasSubstr("/dev/null/nowhere"));
}

}  // namespace
}  // namespace grapevine
