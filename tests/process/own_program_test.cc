// Programs of users: a grapevine with a network and a data set of their own
// (examples/your_own_model), and one without a command line (examples/train_and_simulate).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const GrapevineProcess::Options kWithMine = {.program = "examples/grapevine_with_mine"};
const GrapevineProcess::Options kOwnProgram = {.program = "examples/your_own_model"};

TEST(OwnProgram, ItsNodesKnowItsNetworkAndItsData) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  const Ended trained = RunGrapevine({"train", "-n", "2", "--model=two-convolutions:width=16",
                                      "--data=waves", "--epochs=3", "--out", out},
                                     kOwnProgram);
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const auto summary = SummaryOf(out);
  EXPECT_GT(summary["test_accuracy"], 0.9);
  EXPECT_EQ(summary["model"], "two-convolutions:width=16");

  const Ended evaluated =
      RunGrapevine({"eval", out + "/model.safetensors", "--data=waves", "--json"}, kOwnProgram);
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  EXPECT_NEAR(JsonOf(evaluated.output)["accuracy"].get<double>(),
              summary["test_accuracy"].get<double>(), 1e-9);
}

TEST(OwnProgram, KnowsTheBuiltInOnesToo) {
  const Ended ended = RunGrapevine({"train", "--model=nosuch", "--data=waves"}, kOwnProgram);
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output, AllOf(HasSubstr("lenet5"), HasSubstr("two-convolutions")));
}

TEST(OwnProgram, TrainsAndSimulatesWithoutACommandLine) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine({folder.path()}, {.program = "examples/train_and_simulate"});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, AllOf(HasSubstr("trained: "), HasSubstr("simulated: ")));
  const auto trained = SummaryOf(folder.File("trained"));
  const auto simulated = SummaryOf(folder.File("simulated"));
  EXPECT_EQ(trained["test_accuracy"], simulated["test_accuracy"]);
  // Summed in another order.
  EXPECT_DOUBLE_EQ(trained["consensus_distance"], simulated["consensus_distance"]);
}

// The topology, the algorithm, the optimizer and the objective are a user's own.
std::vector<std::string> WithMine(const char* command, const std::string& out) {
  return {command,
          "-n",
          "6",
          "--topology=ladder",
          "--algorithm=periodic-gossip:every=2",
          "--optimizer=sgdw:weight_decay=0.001",
          "--model=double-well:dim=4",
          "--rounds=120",
          "--schedule=constant",
          "--out",
          out};
}

TEST(GrapevineWithMine, RunsThemByNameForRealAndSimulatedWithTheSameBits) {
  const ScratchFolder folder;
  const Ended trained = RunGrapevine(WithMine("train", folder.File("real")), kWithMine);
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  std::vector<std::string> simulate = WithMine("sim", folder.File("simulated"));
  simulate.push_back("--compute=1ms");
  const Ended simulated = RunGrapevine(simulate, kWithMine);
  ASSERT_EQ(simulated.exit_code, 0) << simulated.output;
  const auto summary = SummaryOf(folder.File("real"));
  EXPECT_LT(summary["test_loss"], 0.05);  // 0.98 where it begins
  const std::string model = FileText(folder.File("real/model.safetensors"));
  EXPECT_FALSE(model.empty());
  EXPECT_EQ(model, FileText(folder.File("simulated/model.safetensors")));
}

TEST(GrapevineWithMine, HelpErrorsAndAdviceKnowThem) {
  EXPECT_THAT(RunGrapevine({"train", "--help=all"}, kWithMine).output,
              AllOf(HasSubstr("ladder"), HasSubstr("periodic-gossip[:every=4]"), HasSubstr("sgdw"),
                    HasSubstr("double-well[:dim=10][:tilt=0.1]")));
  const Ended refused = RunGrapevine({"train", "--topology=laddr"}, kWithMine);
  EXPECT_EQ(refused.exit_code, kUsage);
  EXPECT_THAT(refused.output, HasSubstr("--topology=laddr: unknown topology 'laddr'; did you mean "
                                        "ladder?"));
  const Ended advised = RunGrapevine(
      {"sim", "--advise", "-n", "4", "--model=phantom:1MB", "--compute=10ms"}, kWithMine);
  EXPECT_EQ(advised.exit_code, 0) << advised.output;
  EXPECT_THAT(advised.output, HasSubstr("periodic-gossip on ladder"));
}

}  // namespace
}  // namespace grapevine::testing
