// Batches that grow where the loss stops falling, from the settings to the weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "base/ids.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "tests/experiment/measured_lines.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using testing::FileText;
using ::testing::HasSubstr;
using Flags = std::map<std::string, std::string>;

absl::StatusOr<std::unique_ptr<Experiment>> BuildGrowing(Flags flags) {
  flags.insert({{"nodes", "4"},
                {"model", "softmax"},
                {"compute", "1ms"},
                {"batch", "8"},
                {"batch_schedule", "plateau"}});
  if (!flags.contains("rounds")) flags.insert({"epochs", "10"});
  if (flags["model"] == "softmax") flags.insert({"data", "synthetic:train=512:test=200"});
  const auto resolved = ResolveConfig({.flags = flags});
  if (!resolved.ok()) return resolved.status();
  return Experiment::Build(resolved->config);
}

// A world's records of a run that grows twice.
class Records {
 public:
  Records(const ScratchFolder& folder, const std::string& name) : path_(folder.File(name)) {
    std::filesystem::create_directory(path_);
  }
  const std::string& path() const { return path_; }
  std::string model() const { return FileText(path_ + "/model.safetensors"); }
  std::string model(Rank rank) const {
    return FileText(absl::StrFormat("%s/node-%d/model.safetensors", path_, rank));
  }
  Summary summary() const { return *SummaryFromJson(FileText(path_ + "/summary.json")); }
  std::vector<std::string> lines() const { return MeasuredLines(path_); }

 private:
  const std::string path_;
};

// 16 rounds of 4 x 8 samples are an epoch. No loss falls by all that it is, so
// the second evaluation shows a plateau; the batch grows at the third, and again at the fifth.
const char* const kTwice = "plateau:factor=2:patience=1:threshold=1:most=2";

TEST(BatchesThatGrowAtPlateaus, HaveTheSameBitsAndRecordsRealAndSimulated) {
  const ScratchFolder folder;
  for (const char* algorithm :
       {"dpsgd", "dpsgd:order=atc:local=3", "allreduce:buckets=3", "ps:servers=1"}) {
    SCOPED_TRACE(algorithm);
    const Records simulated(folder, std::string("simulated") + algorithm),
        real(folder, std::string("real") + algorithm);
    const auto experiment = BuildGrowing({{"algorithm", algorithm},
                                          {"batch_schedule", kTwice},
                                          {"nodes", algorithm[0] == 'p' ? "5" : "4"},
                                          {"epochs", "5"},
                                          {"eval_every", "0.5"},
                                          {"log_every", "4"},
                                          {"accumulate", "2"},
                                          {"batch", "4"}});
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    // The same experiment for both: a run leaves no trace in it.
    const auto predicted =
        SimulatedRun(experiment->get(), {.run_directory = simulated.path()}).Run();
    ASSERT_TRUE(predicted.ok()) << predicted.status();
    const auto trained = RunInThreads(**experiment, {.run_directory = real.path()});
    ASSERT_TRUE(trained.ok()) << trained.status();
    EXPECT_TRUE(simulated.model() == real.model());
    for (Rank rank = 0; rank < 4; ++rank) {
      EXPECT_TRUE(simulated.model(rank) == real.model(rank)) << rank;
    }
    EXPECT_EQ(simulated.lines(), real.lines());
    for (const Records* run : {&simulated, &real}) {
      const Summary summary = run->summary();
      ASSERT_TRUE(summary.batch_growth.has_value());
      EXPECT_THAT(summary.batch_growth->round, ElementsAre(0, 24, 32));
      EXPECT_THAT(summary.batch_growth->epoch, ElementsAre(0, 1.5, 2.5));
      EXPECT_THAT(summary.batch_growth->batch, ElementsAre(32, 64, 128));
      EXPECT_EQ(summary.rounds, 24 + 8 + 10);
      EXPECT_DOUBLE_EQ(summary.epochs, 5);
    }
  }
}

// Evaluations of every round are as far as real nodes may be ahead of rank 0's.
TEST(BatchesThatGrowAtPlateaus, AreSettledHoweverOftenTheModelIsEvaluated) {
  const ScratchFolder folder;
  const Records simulated(folder, "simulated"), real(folder, "real");
  const auto experiment =
      BuildGrowing({{"batch_schedule", "plateau:factor=3:patience=3:threshold=1:most=2"},
                    {"epochs", "3"},
                    {"eval_every", "0.001"}});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  ASSERT_TRUE(SimulatedRun(experiment->get(), {.run_directory = simulated.path()}).Run().ok());
  const auto trained = RunInThreads(**experiment, {.run_directory = real.path()});
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_TRUE(simulated.model() == real.model());
  // The first counts for the lowest loss; the next three show a plateau; the fifth is before the
  // growth, and three more show the next.
  EXPECT_THAT(real.summary().batch_growth->round, ElementsAre(0, 5, 9));
  EXPECT_EQ(real.summary().rounds, 5 + 4 + 4);
}

TEST(BatchesThatGrowAtPlateaus, LearnInFewerSteps) {
  const ScratchFolder folder;
  const Records fixed(folder, "fixed"), growing(folder, "growing");
  const auto summary = [](const Records& run, const std::string& schedule) {
    const auto experiment = BuildGrowing({{"batch_schedule", schedule},
                                          {"lr", "0.05"},
                                          {"schedule", "constant"},
                                          {"epochs", "20"},
                                          {"eval_every", "1"}});
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    EXPECT_TRUE(SimulatedRun(experiment->get(), {.run_directory = run.path()}).Run().ok());
    return run.summary();
  };
  const Summary alike = summary(fixed, "none");
  const Summary grown = summary(growing, "plateau:threshold=0.2:most=3");
  ASSERT_TRUE(grown.batch_growth.has_value());
  EXPECT_LT(grown.rounds, alike.rounds);
  EXPECT_GT(*grown.test_accuracy, *alike.test_accuracy - 0.03);
  EXPECT_FALSE(alike.batch_growth.has_value());
}

TEST(BatchesThatGrowAtPlateaus, EndWhenTheirTargetIsMet) {
  const ScratchFolder folder;
  const Records simulated(folder, "simulated"), real(folder, "real");
  const auto experiment = BuildGrowing({{"batch_schedule", kTwice},
                                        {"epochs", "20"},
                                        {"eval_every", "0.5"},
                                        {"target_accuracy", "0.5"}});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  ASSERT_TRUE(SimulatedRun(experiment->get(), {.run_directory = simulated.path()}).Run().ok());
  const auto trained = RunInThreads(**experiment, {.run_directory = real.path()});
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_TRUE(simulated.model() == real.model());
  EXPECT_EQ(simulated.summary().target->round, real.summary().target->round);
  EXPECT_TRUE(real.summary().target->met);
}

std::string PlateauRefusal(const Flags& flags) {
  const absl::Status status = BuildGrowing(flags).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  return std::string(status.message());
}

TEST(BatchesThatGrowAtPlateaus, AreRefusedWhereNoPlateauCanShow) {
  EXPECT_EQ(PlateauRefusal({{"rounds", "100"}}),
            "--batch-schedule=plateau: how many samples --rounds=100 are is not known before the "
            "run; give its length in --epochs");
  EXPECT_EQ(PlateauRefusal({{"epochs", "3"}}),
            "--batch-schedule=plateau: the batch can grow after 4 evaluations at the earliest, of "
            "which the run has 3; lower --eval-every=1, or make the run longer");
  EXPECT_EQ(PlateauRefusal({{"eval_every", "1000"}}),
            "--batch-schedule=plateau: the batch can grow after 4 evaluations at the earliest, of "
            "which the run has 1; lower --eval-every=1000, or make the run longer");
  EXPECT_EQ(PlateauRefusal({{"algorithm", "adpsgd"}}),
            "--batch-schedule=plateau: the nodes of --algorithm=adpsgd go through no rounds "
            "together; take --accumulate, or dpsgd");
  for (const char* model : {"phantom:1MB", "quadratic:dim=4"}) {
    EXPECT_EQ(PlateauRefusal({{"model", model}, {"rounds", "30"}}),
              std::string("--batch-schedule=plateau: --model=") + model +
                  " has no test data whose loss could show a plateau; say where the batch grows "
                  "(step:at=50%+75%), or choose another model");
  }
  EXPECT_THAT(PlateauRefusal({{"batch", "64"}}), HasSubstr("--batch=64: 8 such batches"))
      << "that it may come to";
  const auto recorded = ResolveConfig(
      {.flags = {{"nodes", "2"}, {"batch_schedule", "plateau"}, {"record", "run.rec"}}});
  ASSERT_TRUE(recorded.ok()) << recorded.status();
  EXPECT_EQ(ValidateForRealNodes(*recorded).message(),
            "--record=run.rec: a replay evaluates nothing, so it knows no plateaus; give "
            "--batch-schedule=step the positions at which an earlier run's batch grew "
            "(summary.json), or drop --record");
}

}  // namespace
}  // namespace grapevine
