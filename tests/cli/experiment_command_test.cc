#include "cli/commands/experiment_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <optional>

#include "base/status.h"
#include "cli/flags/config_flags.h"

namespace grapevine {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

// What became of a command line.
struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string error;
  std::optional<ResolvedConfig> resolved;  // unless the body was not reached
};

Outcome Call(std::vector<std::string> arguments, absl::Status result = absl::OkStatus()) {
  Outcome outcome;
  CommandLine line("grapevine", "test");
  DefineExperiment(line.AddCommand("train", "train something"),
                   FieldsInGroups({"Experiment", "Model and data", "Training", "Output"}),
                   [&](const ResolvedConfig& resolved, bool) {
                     outcome.resolved = resolved;
                     return result;
                   });
  arguments.insert(arguments.begin(), "grapevine");
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  outcome.exit_code = line.Run(static_cast<int>(argv.size()), argv.data());
  outcome.out = ::testing::internal::GetCapturedStdout();
  outcome.error = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(ExperimentCommand, PassesFlagsOn) {
  const Outcome outcome = Call(
      {"train", "-n", "8", "--lr=0.1", "--overwrite", "--out=x", "--slow", "1:2", "--slow=3:4"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  ASSERT_TRUE(outcome.resolved.has_value());
  const Config& config = outcome.resolved->config;
  EXPECT_EQ(config.nodes(), 8);
  EXPECT_EQ(config.lr(), 0.1);
  EXPECT_TRUE(config.overwrite());
  EXPECT_THAT(config.slow(), ::testing::ElementsAre("1:2", "3:4"));
  EXPECT_EQ(config.topology(), "ring");
  EXPECT_EQ(outcome.resolved->OriginOf("nodes").where, "--nodes");
  EXPECT_FALSE(config.version().empty());
  EXPECT_FALSE(config.revision().empty());
}

TEST(ExperimentCommand, TakesTheLastOfRepeatedFlags) {
  EXPECT_EQ(Call({"train", "-n4", "--nodes=6"}).resolved->config.nodes(), 6);
}

TEST(ExperimentCommand, SwitchesOff) {
  const std::string path = ::testing::TempDir() + "/overwrite.textproto";
  std::ofstream(path) << "overwrite: true out: 'x'";
  EXPECT_TRUE(Call({"train", "--config", path}).resolved->config.overwrite());
  EXPECT_FALSE(Call({"train", "--config", path, "--no-overwrite"}).resolved->config.overwrite());
  EXPECT_FALSE(Call({"train", "--config", path, "--overwrite=false"}).resolved->config.overwrite());
}

TEST(ExperimentCommand, ReadsTheEnvironment) {
  setenv("GRAPEVINE_BATCH", "7", 1);
  const Outcome outcome = Call({"train"});
  unsetenv("GRAPEVINE_BATCH");
  ASSERT_TRUE(outcome.resolved.has_value()) << outcome.error;
  EXPECT_EQ(outcome.resolved->config.batch(), 7);
}

// Whoever refuses a value names the flag; the frame knows where it came from.
TEST(ExperimentCommand, BlamesThePlaceThatAValueCameFrom) {
  const std::string path = ::testing::TempDir() + "/model.textproto";
  std::ofstream(path) << "batch: 3\nmodel: 'lenet6'\n";
  const absl::Status refused = UsageError("--model=lenet6: unknown network");
  const std::vector<std::string> from_file = {"train", "--config=" + path};
  EXPECT_EQ(Call(from_file, refused).error,
            "grapevine train: " + path + ":2: model=lenet6: unknown network\n");
  EXPECT_EQ(Call(from_file, refused).exit_code, 2);
  setenv("GRAPEVINE_MODEL", "lenet6", 1);
  EXPECT_EQ(Call({"train"}, refused).error,
            "grapevine train: GRAPEVINE_MODEL=lenet6: unknown network\n");
  unsetenv("GRAPEVINE_MODEL");
  EXPECT_EQ(Call({"train", "--model=lenet6"}, refused).error,
            "grapevine train: --model=lenet6: unknown network\n");
  EXPECT_EQ(Call({"train"}, refused).error, "grapevine train: --model=lenet6: unknown network\n");
}

TEST(ExperimentCommand, RefusesVariablesThatItDoesNotKnow) {
  setenv("GRAPEVINE_BACTH", "7", 1);
  const Outcome outcome = Call({"train"});
  unsetenv("GRAPEVINE_BACTH");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.error,
            "grapevine train: unknown variable GRAPEVINE_BACTH; did you mean GRAPEVINE_BATCH?\n");
  EXPECT_FALSE(outcome.resolved.has_value());
}

TEST(ExperimentCommand, SuggestsTheNearestFlag) {
  const Outcome outcome = Call({"train", "--bathc=3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.error, "grapevine train: unknown flag --bathc; did you mean --batch?\n");
  EXPECT_FALSE(outcome.resolved.has_value());
}

TEST(ExperimentCommand, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(Call({"train", "--wobble"}).error,
            "grapevine train: unknown flag --wobble; see grapevine train --help\n");
  EXPECT_EQ(Call({"train", "now"}).error,
            "grapevine train: unknown argument now; see grapevine train --help\n");
  EXPECT_EQ(Call({"trian"}).error, "grapevine: unknown command trian; did you mean train?\n");
  const Outcome nothing = Call({});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.error, HasSubstr("train something"));
  EXPECT_THAT(nothing.error, ::testing::EndsWith("\ngrapevine: a command is missing\n"));
}

TEST(ExperimentCommand, RefusesBadValues) {
  const Outcome outcome = Call({"train", "--batch=-3"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.error, "grapevine train: --batch=-3: must be positive\n");
  EXPECT_EQ(Call({"train", "--batch"}).exit_code, 2);
}

TEST(ExperimentCommand, TurnsAFailureIntoItsExitCode) {
  const Outcome outcome =
      Call({"train"}, WithFailure(absl::UnavailableError("rank 3 is silent"), Failure::kPeerLost));
  EXPECT_EQ(outcome.exit_code, 6);
  EXPECT_EQ(outcome.error, "grapevine train: rank 3 is silent\n");
}

TEST(ExperimentCommand, PrintsOriginsInADryRun) {
  const Outcome outcome = Call({"train", "--dry-run", "--batch=64"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, ContainsRegex("batch +64 +--batch\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("topology +ring +default\n"));
  EXPECT_EQ(Call({"train"}).out, "");
}

TEST(ExperimentCommand, HelpsByGroupWithDefaults) {
  const Outcome outcome = Call({"train", "--help=all"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("\nTraining:\n"));
  EXPECT_THAT(outcome.out,
              ContainsRegex("-n,--nodes N +number of nodes, parameter servers included \\[4\\]\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("--slow RANK:FACTOR +make a straggler"));
  EXPECT_THAT(outcome.out, HasSubstr("--overwrite,--no-overwrite "));
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("--hostfile")));
  EXPECT_FALSE(outcome.resolved.has_value());
}

}  // namespace
}  // namespace grapevine
