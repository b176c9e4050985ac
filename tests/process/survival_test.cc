// Real runs that lose nodes and go on (--on-failure=shrink).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::vector<std::string> Mortals(const std::string& algorithm, const std::string& out) {
  return {"train",
          "-n4",
          "--algorithm=" + algorithm,
          "--model=softmax",
          "--data=synthetic:train=512:test=200",
          "--batch=8",
          "--rounds=120",
          "--eval-every=1",
          "--log-every=10",
          "--peer-timeout=5s",
          "--on-failure=shrink",
          "--out=" + out};
}

class Survival : public ::testing::TestWithParam<const char*> {};

TEST_P(Survival, TheOthersTrainToTheEnd) {
  const ScratchFolder folder;
  std::vector<std::string> command = Mortals(GetParam(), folder.File("run"));
  const Ended whole = RunGrapevine(Mortals(GetParam(), folder.File("whole")));
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  command.push_back("--chaos=kill:rank=2:at=round:30");
  command.push_back("--chaos=kill:rank=1:at=round:119");
  const Ended run = RunGrapevine(command);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(ContainsRegex("rank 2 .*; 3 of 4 nodes go on"),
                                ContainsRegex("rank 1 .*; 2 of 4 nodes go on")));
  const auto summary = SummaryOf(folder.File("run"));
  const auto expected = SummaryOf(folder.File("whole"));
  EXPECT_EQ(summary.at("rounds"), 120);
  EXPECT_NEAR(summary.at("test_accuracy").get<double>(), expected.at("test_accuracy").get<double>(),
              0.1);
  const std::vector<nlohmann::json> metrics = JsonLines(folder.File("run/metrics.jsonl"));
  ASSERT_FALSE(metrics.empty());
  EXPECT_FALSE(metrics.front().contains("living"));
  EXPECT_EQ(metrics.back().at("living"), 2);
  EXPECT_TRUE(metrics.back().contains("test_accuracy")) << "of the living";
  int64_t bytes = 0;
  for (const nlohmann::json& line : metrics) {
    EXPECT_GE(line.at("bytes_sent_total").get<int64_t>(), bytes) << line;
    bytes = line.at("bytes_sent_total").get<int64_t>();
  }
  for (const char* node : {"0", "3"}) {
    EXPECT_TRUE(std::filesystem::exists(
        folder.File(std::string("run/node-") + node + "/model.safetensors")));
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("run/node-2/model.safetensors")));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Survival,
                         ::testing::Values("dpsgd", "dpsgd:order=atc", "dpsgd:local=3",
                                           "noloco:every=5", "sgp"));

// Each of two nodes has digits that the other never sees.
TEST(SurvivalOfData, TheLivingLearnFromTheDataOfTheDead) {
  const ScratchFolder folder;
  const Ended run = RunGrapevine({"train", "-n2", "--model=softmax", "--split=label",
                                  "--data=synthetic:train=2000:test=500", "--batch=16", "--lr=0.02",
                                  "--rounds=300", "--on-failure=shrink",
                                  "--chaos=kill:rank=1:at=round:5", "--out=" + folder.File("run")});
  ASSERT_EQ(run.exit_code, 0) << run.output;
  const auto summary = SummaryOf(folder.File("run"));
  EXPECT_GT(summary.at("test_accuracy").get<double>(), 0.6) << "of five digits it is half at most";
  // A round of one node is 16 of 2000 samples; its view begins after round 5, and a few rounds on.
  EXPECT_GE(summary.at("epochs").get<double>(), 305.0 * 16 / 2000);
  EXPECT_LT(summary.at("epochs").get<double>(), 320.0 * 16 / 2000);
}

// Four nodes that would go on for long, in their first rounds.
class SurvivalOfSignals : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(run_.AwaitOutput("round 3/")) << run_.output(); }

  void Signal(int rank, int signal) {
    const pid_t node = run_.Node(rank);
    ASSERT_NE(node, 0);
    ASSERT_EQ(kill(node, signal), 0);
  }

  ScratchFolder folder_;
  GrapevineProcess run_{{"train", "-n", "4", "--model=phantom:1MB", "--compute=5ms", "--rounds=600",
                         "--peer-timeout=1s", "--on-failure=shrink", "--out", folder_.File("run")}};
};

TEST_F(SurvivalOfSignals, ANodeThatIsStoppedIsLeftOut) {
  Signal(3, SIGSTOP);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(), ContainsRegex("rank 3 .* is silent.*; 3 of 4 nodes go on"));
}

TEST_F(SurvivalOfSignals, OneThatComesBackHearsThatTheOthersHaveGoneOn) {
  Signal(3, SIGSTOP);
  ASSERT_TRUE(run_.AwaitOutput("3 of 4 nodes go on")) << run_.output();
  Signal(3, SIGCONT);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), HasSubstr("grapevine node: the others go on without it: rank 3"));
}

TEST_F(SurvivalOfSignals, ANodeThatIsToldToEndLeavesAlone) {
  Signal(2, SIGTERM);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), HasSubstr("3 of 4 nodes go on"));
}

TEST_F(SurvivalOfSignals, AllButRankZeroMayDie) {
  for (const int rank : {1, 2, 3}) Signal(rank, SIGKILL);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), HasSubstr("1 of 4 nodes goes on"));
}

TEST_F(SurvivalOfSignals, WithoutRankZeroTheRunEnds) {
  Signal(0, SIGKILL);
  EXPECT_EQ(run_.Await(), 6) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
}

TEST(SurvivalOf, WhatCannotGoOnIsRefused) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--algorithm=allreduce"},
                                                std::vector<std::string>{"--checkpoint-every=10s"},
                                                std::vector<std::string>{"--record=events"}}) {
    std::vector<std::string> command = {"train",           "-n2",
                                        "--model=softmax", "--data=synthetic",
                                        "--rounds=10",     "--on-failure=shrink"};
    command.insert(command.end(), flags.begin(), flags.end());
    const Ended run = RunGrapevine(command);
    EXPECT_EQ(run.exit_code, 2) << run.output;
    EXPECT_THAT(run.output, HasSubstr("--on-failure"));
  }
}

}  // namespace
}  // namespace grapevine::testing
