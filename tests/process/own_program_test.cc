// Programs of users: a grapevine with a network and a data set of their own
// (examples/your_own_model), and one without a command line (examples/train_and_simulate).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kUsage = 2;
const GrapevineProcess::Options kOwnProgram = {.program = "examples/your_own_model"};

TEST(OwnProgram, ItsNodesKnowItsNetworkAndItsData) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  const Ended trained = RunGrapevine({"train", "-n", "2", "--model=two-convolutions:width=16",
                                      "--data=waves", "--epochs=3", "--out", out},
                                     kOwnProgram);
  ASSERT_EQ(trained.exit_code, 0) << trained.output;
  const auto summary = nlohmann::json::parse(std::ifstream(out + "/summary.json"));
  EXPECT_GT(summary["test_accuracy"], 0.9);
  EXPECT_EQ(summary["model"], "two-convolutions:width=16");

  const Ended evaluated =
      RunGrapevine({"eval", out + "/model.safetensors", "--data=waves", "--json"}, kOwnProgram);
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.output;
  EXPECT_NEAR(nlohmann::json::parse(evaluated.output)["accuracy"].get<double>(),
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
  const auto summary_of = [&](const std::string& world) {
    return nlohmann::json::parse(std::ifstream(folder.File(world + "/summary.json")));
  };
  const auto trained = summary_of("trained"), simulated = summary_of("simulated");
  EXPECT_EQ(trained["test_accuracy"], simulated["test_accuracy"]);
  // Summed in another order.
  EXPECT_DOUBLE_EQ(trained["consensus_distance"], simulated["consensus_distance"]);
}

}  // namespace
}  // namespace grapevine::testing
