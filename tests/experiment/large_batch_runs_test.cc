// What large batches need, from the settings to the weights: rates that follow the batch, clipped
// gradients, the end of augmentation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/failure.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using ::testing::HasSubstr;
using Flags = std::map<std::string, std::string>;

absl::StatusOr<std::unique_ptr<Experiment>> BuildLarge(Flags flags) {
  flags.insert({{"nodes", "4"}, {"model", "softmax"}, {"compute", "1ms"}, {"seed", "1"}});
  if (!flags.contains("rounds")) flags.insert({"epochs", "10"});
  if (flags["model"] == "softmax") flags.insert({"data", "synthetic:train=1024:test=200"});
  const auto resolved = ResolveConfig({.flags = flags});
  if (!resolved.ok()) return resolved.status();
  return Experiment::Build(resolved->config);
}

std::string RefusalOf(const Flags& flags) {
  const absl::Status status = BuildLarge(flags).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  return std::string(status.message());
}

// The averaged models of a simulated and of a real run.
std::pair<std::string, std::string> ModelsOf(const Flags& flags, const ScratchFolder& folder,
                                             const std::string& name) {
  const std::string simulated = folder.File(name + "-simulated"),
                    real = folder.File(name + "-real");
  for (const std::string& path : {simulated, real}) std::filesystem::create_directory(path);
  const auto experiment = BuildLarge(flags);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  const auto predicted = SimulatedRun(experiment->get(), {.run_directory = simulated}).Run();
  EXPECT_TRUE(predicted.ok()) << predicted.status();
  const auto trained = RunInThreads(**experiment, {.run_directory = real});
  EXPECT_TRUE(trained.ok()) << trained.status();
  return {FileText(simulated + "/model.safetensors"), FileText(real + "/model.safetensors")};
}

TEST(ScaledRates, FollowTheGlobalBatchAndAreWarmedUpFromTheBaseRate) {
  // 4 x 64 samples: 4 rounds an epoch.
  const auto experiment = BuildLarge({{"batch", "64"},
                                      {"lr", "0.1"},
                                      {"scale_lr", "linear:base=32"},
                                      {"schedule", "constant:warmup=5"}});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_DOUBLE_EQ((*experiment)->learning_rate(), 0.8);
  EXPECT_DOUBLE_EQ((*experiment)->At(1).learning_rate, 0.1);
  EXPECT_DOUBLE_EQ((*experiment)->At(11).learning_rate, 0.45);
  EXPECT_DOUBLE_EQ((*experiment)->At(21).learning_rate, 0.8);
}

TEST(ScaledRates, CountTheWorkersAndNotTheServers) {
  const auto experiment = BuildLarge({{"nodes", "5"},
                                      {"algorithm", "ps:servers=1"},
                                      {"batch", "64"},
                                      {"lr", "0.1"},
                                      {"scale_lr", "sqrt:base=64"}});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_DOUBLE_EQ((*experiment)->learning_rate(), 0.2);
}

TEST(ScaledRates, AreAskedFor) {
  const auto experiment = BuildLarge({{"batch", "64"}, {"lr", "0.1"}});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_DOUBLE_EQ((*experiment)->learning_rate(), 0.1);
  EXPECT_EQ(RefusalOf({{"scale_lr", "cubic"}}),
            "--scale-lr=cubic: unknown scaling 'cubic'; known: linear[:base=256], none, "
            "sqrt[:base=256]");
  EXPECT_EQ(RefusalOf({{"schedule", "constant:warmup=1:from=base"}}),
            "--schedule=constant:warmup=1:from=base: from=base: needs --scale-lr, whose base rate "
            "it begins at; drop one of them");
}

// Every algorithm's nodes clip their own gradients: the same bits real and simulated.
TEST(ClippedGradients, HaveTheSameBitsRealAndSimulated) {
  const ScratchFolder folder;
  for (const char* algorithm : {"dpsgd", "allreduce:buckets=3", "ps:servers=2"}) {
    const Flags plain = {{"algorithm", algorithm}, {"batch", "8"}, {"rounds", "12"}};
    Flags clipped = plain, hardly = plain;
    clipped["clip_norm"] = "0.2";
    hardly["clip_norm"] = "1e6";
    const auto [simulated, real] = ModelsOf(clipped, folder, std::string("clipped") + algorithm);
    EXPECT_TRUE(simulated == real) << algorithm;
    const auto unclipped = ModelsOf(plain, folder, std::string("plain") + algorithm);
    EXPECT_FALSE(simulated == unclipped.first) << algorithm;
    EXPECT_TRUE(ModelsOf(hardly, folder, std::string("hardly") + algorithm) == unclipped)
        << algorithm << ": a limit that no gradient reaches changes nothing";
  }
}

TEST(ClippedGradients, NeedALimitAndAModelThatLearns) {
  EXPECT_EQ(RefusalOf({{"clip_norm", "0"}}), "--clip-norm=0: must be positive");
  EXPECT_EQ(RefusalOf({{"model", "phantom:1MB"}, {"rounds", "3"}, {"clip_norm", "1"}}),
            "--clip-norm=1: --model=phantom:1MB learns nothing; drop it or choose another model");
}

TEST(AugmentationThatEnds, NeedsDataThatAreAugmentedAndAPositionInTheRun) {
  EXPECT_EQ(RefusalOf({{"augment_until", "90%"}}),
            "--augment-until=90%: --data=synthetic:train=1024:test=200 is not augmented; drop it");
  EXPECT_EQ(RefusalOf({{"model", "quadratic:dim=4"}, {"rounds", "3"}, {"augment_until", "90%"}}),
            "--augment-until=90%: --model=quadratic:dim=4 has no data; drop one of them");
}

// A set in CIFAR-10's format: records of a label and 3072 bytes.
void WriteCifar(const std::string& path, int records) {
  std::ofstream file(path, std::ios::binary);
  for (int record = 0; record < records; ++record) {
    file.put(static_cast<char>(record % 10));
    for (int i = 0; i < 3072; ++i) file.put(static_cast<char>((record * 37 + i * i) % 251));
  }
}

TEST(AugmentationThatEnds, ShowsTheLastEpochsAsTheyAre) {
  const ScratchFolder folder;
  const std::string data = folder.File("cifar");
  std::filesystem::create_directory(data);
  WriteCifar(data + "/data_batch_1.bin", 64);
  WriteCifar(data + "/test_batch.bin", 20);
  const auto model = [&](const std::string& spec, const std::string& until) {
    Flags flags = {{"data", spec}, {"nodes", "2"}, {"batch", "8"}, {"epochs", "2"}};
    if (!until.empty()) flags["augment_until"] = until;
    const auto models =
        ModelsOf(flags, folder, "until" + until + (spec.ends_with("no") ? "-plain" : ""));
    EXPECT_TRUE(models.first == models.second) << until;
    return models.first;
  };
  const std::string augmented = "cifar10:" + data;
  const std::string always = model(augmented, ""), half = model(augmented, "1"),
                    never = model(augmented, "0");
  EXPECT_TRUE(model(augmented, "100%") == always);
  EXPECT_TRUE(model(augmented, "50%") == half);
  EXPECT_TRUE(model(augmented + ":augment=no", "") == never);
  EXPECT_FALSE(half == always);
  EXPECT_FALSE(half == never);
  EXPECT_THAT(RefusalOf({{"data", augmented}, {"nodes", "2"}, {"augment_until", "120%"}}),
              HasSubstr("--augment-until=120%: '120%' is round"));
}

}  // namespace
}  // namespace grapevine
