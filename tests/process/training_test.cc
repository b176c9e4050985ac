// Local runs to their end, and what makes one end early.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run/compute_time.h"
#include "run/straggler.h"
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

// A real phantom run waits for the times that a simulated one would charge.
TEST(Training, AGradientTakesTheTimeThatIsDrawnForIt) {
  const ScratchFolder folder;
  const std::string compute = "exponential:mean=4ms";
  const std::string straggler = "p=0.3:factor=5";
  constexpr uint64_t kSeed = 3;
  constexpr Round kRounds = 20;
  const Ended ended =
      RunGrapevine({"train", "-n", "2", "--model=phantom:1kB", "--compute=" + compute,
                    "--straggler=" + straggler, "--seed=" + std::to_string(kSeed),
                    "--rounds=" + std::to_string(kRounds), "--out=" + folder.File("run")});
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const auto times =
      WithStragglers(*MakeComputeTime(compute, kSeed), *Stragglers::Make(straggler, {}, 2, kSeed));
  double drawn_s = 0;
  for (Round round = 0; round < kRounds; ++round) {
    drawn_s += 1e-9 * static_cast<double>(times->Gradient(0, round));
  }
  std::ifstream lines(folder.File("run") + "/node-0/metrics.jsonl");
  double gradient_s = 0;
  for (std::string line; std::getline(lines, line);) {
    gradient_s += nlohmann::json::parse(line)["gradient_s"].get<double>();
  }
  EXPECT_GE(gradient_s, drawn_s);
  EXPECT_GE(Summary(folder.File("run"))["wall_time_s"], drawn_s);
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
