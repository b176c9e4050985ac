// What arrives is checked as numbers, by real nodes and in the simulator alike.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using Settings = std::map<std::string, std::string>;

std::unique_ptr<Experiment> CheckedExperiment(Settings settings) {
  settings.insert({{"nodes", "4"},
                   {"model", "softmax"},
                   {"data", "synthetic:train=1024:test=200"},
                   {"compute", "1ms"},
                   {"rounds", "12"}});
  const auto resolved = ResolveConfig({.flags = settings});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

absl::Status SimulatedEnd(const Settings& settings) {
  const auto experiment = CheckedExperiment(settings);
  const ScratchFolder folder;
  return SimulatedRun(experiment.get(), {.run_directory = folder.path()}).Run().status();
}

absl::Status RealEnd(const Settings& settings) {
  const auto experiment = CheckedExperiment(settings);
  const ScratchFolder folder;
  return RunInThreads(*experiment, {.run_directory = folder.path()}).status();
}

// From " for round" on: which rank is the first to look is a matter of time.
std::string Verdict(const absl::Status& status) {
  EXPECT_EQ(FailureOf(status), Failure::kDiverged) << status;
  const std::string message(status.message());
  EXPECT_THAT(message, HasSubstr("refused what rank "));
  const size_t verdict = message.find(" for round ");
  return verdict == std::string::npos ? message : message.substr(verdict);
}

// All nodes start with the same replica, so that every message of the first round has its norm.
TEST(MaxNorm, RefusesInBothWorldsWithTheSameWords) {
  const Settings settings = {{"max_norm", "0.001"}};
  const std::string simulated = Verdict(SimulatedEnd(settings));
  EXPECT_THAT(simulated, HasSubstr(" for round 0 (channel 0, index 0, step 0), whose norm "));
  EXPECT_THAT(simulated, HasSubstr(" is above --max-norm=0.001"));
  EXPECT_THAT(Verdict(RealEnd(settings)), HasSubstr(simulated));
}

TEST(MaxNorm, LetsThroughWhatIsNotAbove) {
  EXPECT_TRUE(SimulatedEnd({{"max_norm", "1e6"}}).ok());
  EXPECT_TRUE(RealEnd({{"max_norm", "1e6"}}).ok());
}

TEST(MaxNorm, IsPositive) {
  const auto resolved = ResolveConfig({.flags = {{"max_norm", "0"}}});
  EXPECT_EQ(FailureOf(resolved.status()), Failure::kUsage);
  EXPECT_THAT(std::string(resolved.status().message()),
              HasSubstr("--max-norm=0: must be positive"));
}

}  // namespace
}  // namespace grapevine
