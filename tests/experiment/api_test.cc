#include "experiment/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "run/records/metrics.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::map<std::string, std::string> Small() {
  return {{"nodes", "2"},
          {"model", "softmax"},
          {"data", "synthetic:train=256:test=100"},
          {"rounds", "4"},
          {"compute", "1ms"}};
}

std::string Refusal(std::map<std::string, std::string> settings) {
  const auto experiment = MakeExperiment(settings);
  EXPECT_EQ(FailureOf(experiment.status()), Failure::kUsage) << experiment.status();
  return std::string(experiment.status().message());
}

TEST(Api, TrainsAndSimulatesIntoRunDirectoriesOfItsOwn) {
  const ScratchFolder folder;
  const auto experiment = MakeExperiment(Small());
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const std::string real = folder.File("runs/real"), simulated = folder.File("runs/simulated");
  Round measured = 0;
  const auto trained = Train(
      **experiment,
      {.out = real, .on_metrics = [&](const RunMetrics& metrics) { measured = metrics.round; }});
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_EQ(measured, 4);
  const auto predicted = Simulate(**experiment, {.out = simulated});
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  EXPECT_EQ(trained->test_accuracy, predicted->test_accuracy);
  for (const std::string& run : {real, simulated}) {
    EXPECT_THAT(FileText(run + "/config.textproto"), HasSubstr("model: \"softmax\""));
    EXPECT_TRUE(std::filesystem::exists(run + "/summary.json")) << run;
  }
}

std::vector<RunMetrics> EvaluationsIn(const std::string& run) {
  std::vector<RunMetrics> evaluations;
  std::istringstream file(FileText(run + "/metrics.jsonl"));
  for (std::string line; std::getline(file, line);) {
    const RunMetrics metrics = *RunMetricsFromJson(line);
    if (metrics.test_accuracy) evaluations.push_back(metrics);
  }
  return evaluations;
}

TEST(Api, AShortRunIsEvaluatedOftenAndAtTheEndOnTheWholeTestSet) {
  const ScratchFolder folder;
  auto settings = Small();
  settings.insert_or_assign("data", "synthetic:train=1600:test=500");
  settings.insert_or_assign("rounds", "200");
  settings.insert_or_assign("batch", "8");
  const auto experiment = MakeExperiment(settings);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const std::string real = folder.File("real"), simulated = folder.File("simulated");
  const auto trained = Train(**experiment, {.out = real});
  ASSERT_TRUE(trained.ok()) << trained.status();
  ASSERT_TRUE(Simulate(**experiment, {.out = simulated}).ok());
  const std::vector<RunMetrics> evaluations = EvaluationsIn(real), same = EvaluationsIn(simulated);
  ASSERT_EQ(evaluations.size(), 20u);
  ASSERT_EQ(same.size(), 20u);
  for (size_t i = 0; i < evaluations.size(); ++i) {
    SCOPED_TRACE(i);
    const bool last = i + 1 == evaluations.size();
    EXPECT_EQ(evaluations[i].round, static_cast<Round>(10 * (i + 1)));
    EXPECT_EQ(evaluations[i].test_samples, last ? std::nullopt : std::optional<int64_t>(200));
    EXPECT_EQ(evaluations[i].test_loss, same[i].test_loss);
    EXPECT_EQ(evaluations[i].test_samples, same[i].test_samples);
  }
  EXPECT_EQ(trained->test_accuracy, evaluations.back().test_accuracy);
}

TEST(Api, SimulatesWithAMeasuredTimeWhereNoneIsGiven) {
  const ScratchFolder folder;
  auto settings = Small();
  settings.erase("compute");
  const auto experiment = MakeExperiment(settings);
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const auto simulated = Simulate(**experiment, {.out = folder.File("run")});
  ASSERT_TRUE(simulated.ok()) << simulated.status();
  EXPECT_GT(*simulated->simulated_time_s, 0);
  EXPECT_THAT(FileText(folder.File("run/config.textproto")), HasSubstr("compute: \""));
}

// The time of mixing follows from the profile, as for `grapevine sim`.
TEST(Api, ChargesMixingAtTheBandwidthOfAProfile) {
  const ScratchFolder folder;
  const std::string profile = folder.Write("profile.textproto", R"(
      devices { device: "cpu" gradients: 1 gradient_ns: 5000000 mix_bytes: 8000000 mix_ns: 1000000 })");
  auto settings = Small();
  settings["compute"] = "profile:" + profile;
  const auto measured = MakeExperiment(settings);
  ASSERT_TRUE(measured.ok()) << measured.status();
  EXPECT_EQ((*measured)->config().memory_bandwidth(), "64Gbit");
  settings["memory_bandwidth"] = "10Gbit";
  const auto given = MakeExperiment(settings);
  ASSERT_TRUE(given.ok()) << given.status();
  EXPECT_EQ((*given)->config().memory_bandwidth(), "10Gbit");
}

TEST(Api, ReplacesNoEarlierRunUnlessItIsTold) {
  const ScratchFolder folder;
  const auto experiment = MakeExperiment(Small());
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  RunOptions options = {.out = folder.File("run")};
  ASSERT_TRUE(Simulate(**experiment, options).ok());
  const auto refused = Train(**experiment, options);
  EXPECT_EQ(FailureOf(refused.status()), Failure::kOutput) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("holds an earlier run"));
  options.overwrite = true;
  const auto again = Simulate(**experiment, options);
  EXPECT_TRUE(again.ok()) << again.status();
}

TEST(Api, NamesTheSettingThatIsWrong) {
  EXPECT_THAT(Refusal({{"nodes", "0"}}), HasSubstr("--nodes=0"));
  EXPECT_THAT(Refusal({{"topology", "rng"}}), HasSubstr("--topology=rng: unknown topology"));
  EXPECT_THAT(Refusal({{"topolgy", "ring"}}),
              HasSubstr("there is no setting 'topolgy'; did you mean topology?"));
  EXPECT_THAT(Refusal({{"model", "phantom:1MB"}}),
              HasSubstr("--model=phantom:1MB: needs --compute=TIME"));
}

TEST(Api, SimulationNamesTheSettingOfANetworkThatCannotBe) {
  const std::map<std::string, std::string> refused = {
      {"network", "lan-1gbt"}, {"network_model", "nic"}, {"placement", "no-such"}};
  for (const auto& [setting, value] : refused) {
    auto settings = Small();
    settings["network"] = "torus";
    settings[setting] = value;
    const auto experiment = MakeExperiment(settings);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    const absl::Status status = Simulate(**experiment).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    EXPECT_THAT(std::string(status.message()),
                StartsWith("--" + absl::StrReplaceAll(setting, {{"_", "-"}}) + "=" + value + ": "));
  }
}

TEST(Api, TrainingRefusesToMeasureTimesThatAreMadeUp) {
  auto settings = Small();
  settings["profile"] = "profile.textproto";
  const auto measuring = MakeExperiment(settings);
  ASSERT_TRUE(measuring.ok()) << measuring.status();
  const auto refused = Train(**measuring);
  EXPECT_EQ(FailureOf(refused.status()), Failure::kUsage) << refused.status();
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("--profile=profile.textproto: --compute"));
}

}  // namespace
}  // namespace grapevine
