// A grapevine with a network and a data set of its user's: examples/your_own_model.
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

}  // namespace
}  // namespace grapevine::testing
