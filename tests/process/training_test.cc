// Local runs to their end, and what makes one end early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr int kOutput = 4, kDiverged = 7;

// Two nodes on a little data, and what differs.
std::vector<std::string> Training(const std::string& out, std::vector<std::string> flags) {
  flags.insert(flags.begin(), {"train", "-n", "2", "--model=softmax",
                               "--data=synthetic:train=512:test=200", "--out", out});
  return flags;
}

nlohmann::json Summary(const std::string& run) {
  return nlohmann::json::parse(std::ifstream(run + "/summary.json"));
}

TEST(Training, ALossThatIsNoNumberEndsTheRun) {
  const ScratchFolder folder;
  GrapevineProcess run(Training(folder.File("run"), {"--lr=1e38", "--rounds=1000"}));
  EXPECT_EQ(run.Await(), kDiverged) << run.output();
  EXPECT_THAT(run.output(), AllOf(ContainsRegex("rank [01]"), ContainsRegex("in round [0-9]+"),
                                  HasSubstr("--lr")));
  EXPECT_TRUE(run.AwaitNobody());
}

TEST(Training, ReachingTheTargetAccuracyEndsTheRun) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine(
      Training(folder.File("run"), {"--target-accuracy=15%", "--epochs=200", "--eval-every=1"}));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("target accuracy after"));
  const nlohmann::json summary = Summary(folder.File("run"));
  EXPECT_EQ(summary["stopped"], "target accuracy");
  EXPECT_GE(summary["test_accuracy"], 0.15);
  EXPECT_LT(summary["epochs"], 200);
}

TEST(Training, AFullDiskIsNamedAndEndsTheRun) {
  const ScratchFolder folder;
  GrapevineProcess run(Training(folder.File("run"), {"--rounds=100000", "--log-every=1"}),
                       {.largest_file = 20000});
  EXPECT_EQ(run.Await(), kOutput) << run.output();
  EXPECT_THAT(run.output(), AllOf(HasSubstr(folder.File("run")), HasSubstr("model.safetensors"),
                                  HasSubstr("File too large")));
  EXPECT_TRUE(run.AwaitNobody());
}

TEST(Training, AnEarlierRunStaysUnlessToldOtherwise) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  ASSERT_EQ(RunGrapevine(Training(out, {"--rounds=2"})).exit_code, 0);
  const Ended refused = RunGrapevine(Training(out, {"--rounds=3"}));
  EXPECT_EQ(refused.exit_code, kOutput);
  EXPECT_THAT(refused.output, AllOf(HasSubstr(out + " holds an earlier run"),
                                    HasSubstr("another --out"), HasSubstr("--overwrite")));
  EXPECT_EQ(Summary(out)["rounds"], 2);
  EXPECT_EQ(RunGrapevine(Training(out, {"--rounds=3", "--overwrite"})).exit_code, 0);
  EXPECT_EQ(Summary(out)["rounds"], 3);
}

TEST(Training, ARunCanBeRepeatedFromItsConfiguration) {
  const ScratchFolder folder;
  ASSERT_EQ(RunGrapevine(Training(folder.File("a"), {"--rounds=4"})).exit_code, 0);
  const Ended again = RunGrapevine(
      {"train", "--config=" + folder.File("a/config.textproto"), "--out=" + folder.File("b")});
  ASSERT_EQ(again.exit_code, 0) << again.output;
  EXPECT_EQ(Summary(folder.File("a"))["test_loss"], Summary(folder.File("b"))["test_loss"]);
}

}  // namespace
}  // namespace grapevine::testing
