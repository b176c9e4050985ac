// What large batches need, from the settings to the weights: rates that follow the batch, clipped
// gradients, the end of augmentation; batches that are accumulated, and that grow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "kernels/vector/replica_layout.h"
#include "model/files/safetensors.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "tests/experiment/measured_lines.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FileText;
using ::testing::HasSubstr;
using ::testing::StartsWith;
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
  EXPECT_DOUBLE_EQ((*experiment)->NewCourse()->At(1).learning_rate, 0.1);
  EXPECT_DOUBLE_EQ((*experiment)->NewCourse()->At(11).learning_rate, 0.45);
  EXPECT_DOUBLE_EQ((*experiment)->NewCourse()->At(21).learning_rate, 0.8);
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

// The largest difference between two files' weights.
double Distance(const std::string& one, const std::string& other, const ReplicaLayout& layout) {
  std::vector<float> x(static_cast<size_t>(layout.size)), y(x.size());
  for (const auto& [path, replica] : {std::pair(&one, &x), std::pair(&other, &y)}) {
    const auto file = Safetensors::Open(*path);
    EXPECT_TRUE(file.ok()) << file.status();
    EXPECT_TRUE(file->Load(layout, replica->data()).ok());
  }
  double largest = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    largest = std::max(largest, std::abs(double{x[i]} - double{y[i]}));
  }
  return largest;
}

TEST(AccumulatedBatches, LearnWhatTheUndividedBatchDoes) {
  const ScratchFolder folder;
  for (const char* algorithm : {"dpsgd", "allreduce:buckets=3"}) {
    const std::string name = std::string("whole") + algorithm;
    const Flags whole = {{"algorithm", algorithm}, {"batch", "32"}, {"rounds", "20"}};
    const auto models = ModelsOf(whole, folder, name);
    for (const auto& [batch, accumulate] : {std::pair("8", "4"), std::pair("16", "2")}) {
      Flags divided = whole;
      divided["batch"] = batch;
      divided["accumulate"] = accumulate;
      const auto [simulated, real] = ModelsOf(divided, folder, name + accumulate);
      EXPECT_TRUE(simulated == real) << algorithm << " over " << accumulate;
      EXPECT_FALSE(simulated == models.first) << "other roundings";
      const auto experiment = BuildLarge(divided);
      const double distance = Distance(
          folder.File(name + "-simulated/model.safetensors"),
          folder.File(name + accumulate + "-simulated/model.safetensors"), (*experiment)->layout());
      EXPECT_LT(distance, 1e-5) << algorithm << " over " << accumulate;
    }
  }
}

TEST(AccumulatedBatches, TakeTheTimeOfTheirPasses) {
  const ScratchFolder folder;
  const auto seconds = [&](const std::string& accumulate, const std::string& algorithm) {
    const std::string run = folder.File(accumulate + algorithm);
    std::filesystem::create_directory(run);
    const auto experiment = BuildLarge({{"model", "phantom:8MB"},
                                        {"compute", "30ms"},
                                        {"rounds", "10"},
                                        {"algorithm", algorithm},
                                        {"bandwidth", "10Gbit"},
                                        {"memory_bandwidth", "0bit"},
                                        {"accumulate", accumulate}});
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    return *SimulatedRun(experiment->get(), {.run_directory = run}).Run()->simulated_time_s;
  };
  // A gradient hides the exchange, as it did before.
  EXPECT_NEAR(seconds("1", "dpsgd"), 0.3, 0.02);
  EXPECT_NEAR(seconds("4", "dpsgd"), 1.2, 0.02);
  // Buckets hide behind the last pass alone: what is left to wait for is the same.
  const double once = seconds("1", "allreduce:buckets=8"),
               four = seconds("4", "allreduce:buckets=8");
  EXPECT_NEAR(four - once, 0.9, 1e-6);
}

// 1024 samples in batches of 4 x 16: 16 rounds an epoch, 64 in all; the batch doubles after half of
// the samples and again after three quarters.
TEST(GrowingBatches, KeepEpochsEvaluationsAndSchedulesRight) {
  const auto experiment = BuildLarge({{"batch", "16"},
                                      {"epochs", "4"},
                                      {"lr", "0.1"},
                                      {"schedule", "step:at=3:factor=0.5"},
                                      {"eval_every", "1"},
                                      {"batch_schedule", "step"}});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ((*experiment)->rounds(), 32 + 8 + 4);
  EXPECT_EQ((*experiment)->global_batch(), 64);
  EXPECT_EQ((*experiment)->LargestGlobalBatch(), 256);
  const RunPlan& run = (*experiment)->plan();
  EXPECT_DOUBLE_EQ(run.Epoch(32), 2);
  EXPECT_DOUBLE_EQ(run.Epoch(40), 3);
  EXPECT_DOUBLE_EQ(run.Epoch(44), 4);
  EXPECT_EQ(run.PassesIn(31).count, 1);
  EXPECT_EQ(run.PassesIn(32).first, 32);
  EXPECT_EQ(run.PassesIn(32).count, 2);
  EXPECT_EQ(run.PassesIn(40).first, 48);
  EXPECT_EQ(run.PassesIn(43).count, 4);
  std::vector<Round> evaluated;
  for (Round completed = 1; completed <= run.rounds; ++completed) {
    if (run.Evaluated(completed)) evaluated.push_back(completed);
  }
  EXPECT_THAT(evaluated, ElementsAre(16, 32, 40, 44)) << "after each epoch";
  EXPECT_DOUBLE_EQ((*experiment)->NewCourse()->At(40).learning_rate, 0.1)
      << "of the last round of epoch 3";
  EXPECT_DOUBLE_EQ((*experiment)->NewCourse()->At(41).learning_rate, 0.05);
}

TEST(GrowingBatches, ARunOfRoundsHasSoMany) {
  for (const char* rounds : {"1", "7", "44", "1000"}) {
    const auto experiment =
        BuildLarge({{"batch", "16"}, {"rounds", rounds}, {"batch_schedule", "step"}});
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    EXPECT_EQ(std::to_string((*experiment)->rounds()), rounds);
  }
  const auto experiment =
      BuildLarge({{"batch", "16"}, {"rounds", "44"}, {"batch_schedule", "step"}});
  EXPECT_DOUBLE_EQ((*experiment)->plan().Epoch(44), 4) << "shares are of the samples";
  EXPECT_EQ(RefusalOf({{"batch", "16"}, {"rounds", "44"}, {"batch_schedule", "step:at=100"}}),
            "--batch-schedule=step:at=100: at: '100' is round 1600, past the end of the run (44 "
            "rounds)");
}

TEST(GrowingBatches, HaveTheSameBitsAndRecordsRealAndSimulated) {
  const ScratchFolder folder;
  const Flags flags = {{"batch", "8"},
                       {"epochs", "2"},
                       {"log_every", "5"},
                       {"batch_schedule", "step:factor=4"},
                       {"accumulate", "2"}};
  const auto [simulated, real] = ModelsOf(flags, folder, "growing");
  EXPECT_TRUE(simulated == real);
  const std::vector<std::string> measured = MeasuredLines(folder.File("growing-real"));
  EXPECT_EQ(measured, MeasuredLines(folder.File("growing-simulated")));
  // 16 rounds of 4 x 2 x 8 samples and 2 of four times as many are 1.5 epochs; the last one sees
  // 1024.
  EXPECT_THAT(measured, Contains(StartsWith("19: epoch 2.500000")));
}

// The quadratic's gradients have the noise that it is given: a variance of 1 in each of 100
// coordinates, at a distance of 1 in each of them.
TEST(NoiseScale, IsThatOfAProblemWithKnownNoiseRealAndSimulated) {
  const ScratchFolder folder;
  for (const char* algorithm : {"dpsgd", "allreduce:buckets=3", "ps:async"}) {
    const Flags flags = {{"model", "quadratic:dim=100:noise=1:start=1"},
                         {"algorithm", algorithm},
                         {"rounds", "40"},
                         {"log_every", "40"},
                         {"eval_every", "40"},
                         {"batch", "8"},
                         {"accumulate", "4"},
                         {"lr", "1e-9"},
                         {"noise_scale", "true"}};
    ModelsOf(flags, folder, algorithm);
    for (const char* world : {"-simulated", "-real"}) {
      const auto summary =
          SummaryFromJson(FileText(folder.File(algorithm + std::string(world)) + "/summary.json"));
      ASSERT_TRUE(summary.ok()) << summary.status();
      // Of 160 gradients (120 with a server); four standard deviations.
      EXPECT_NEAR(*summary->gradient_variance, 8 * 100, 25) << algorithm << world;
      EXPECT_NEAR(*summary->gradient_square, 100, 4) << algorithm << world;
      EXPECT_NEAR(*summary->noise_scale, 8, 0.4) << algorithm << world;
    }
  }
}

TEST(NoiseScale, LeavesTheWeightsAsTheyAre) {
  const ScratchFolder folder;
  const Flags plain = {{"batch", "8"}, {"accumulate", "4"}, {"rounds", "12"}, {"clip_norm", "0.2"}};
  Flags measured = plain;
  measured["noise_scale"] = "true";
  EXPECT_TRUE(ModelsOf(measured, folder, "measured") == ModelsOf(plain, folder, "plain"));
  const auto summary = [&](const std::string& run) {
    return *SummaryFromJson(FileText(folder.File(run) + "/summary.json"));
  };
  EXPECT_GT(summary("measured-real").gradient_variance, 0) << "before they are clipped";
  EXPECT_NEAR(*summary("measured-real").noise_scale, *summary("measured-simulated").noise_scale,
              1e-6 * *summary("measured-real").noise_scale)
      << "to rounding: real nodes may add up the norms of parts";
  EXPECT_FALSE(summary("plain-real").noise_scale.has_value());
}

TEST(NoiseScale, NeedsSeveralBatchesAndAModelThatLearns) {
  EXPECT_EQ(RefusalOf({{"batch", "64"}, {"noise_scale", "true"}}),
            "--noise-scale: compares the batches of a step with each other, and there is one of "
            "64; divide it: --batch=32 --accumulate=2");
  EXPECT_EQ(RefusalOf({{"model", "phantom:1MB"}, {"rounds", "3"}, {"noise_scale", "true"}}),
            "--noise-scale=true: --model=phantom:1MB learns nothing; drop it or choose another "
            "model");
}

TEST(GrowingBatches, AreRefusedWhereTheyCannotBe) {
  EXPECT_EQ(RefusalOf({{"batch", "128"}, {"accumulate", "4"}}),
            "--batch=128: 4 such batches are 512 samples, and node 0 has only 256 of the 1024; "
            "lower it, --accumulate or what --batch-schedule multiplies it by");
  EXPECT_THAT(RefusalOf({{"batch", "128"}, {"batch_schedule", "step:factor=2"}}),
              HasSubstr("--batch=128: 4 such batches"));
  EXPECT_EQ(RefusalOf({{"accumulate", "0"}}), "--accumulate=0: must be positive");
  EXPECT_EQ(RefusalOf({{"algorithm", "adpsgd"}, {"batch_schedule", "step"}}),
            "--batch-schedule=step: the nodes of --algorithm=adpsgd go through no rounds together; "
            "take --accumulate, or dpsgd");
  EXPECT_EQ(RefusalOf({{"batch_schedule", "double"}}),
            "--batch-schedule=double: unknown batch schedule 'double'; known: none, "
            "step[:at=50%+75%][:factor=2], "
            "plateau[:factor=2][:patience=2][:threshold=0.01][:most=3]");
}

}  // namespace
}  // namespace grapevine
