// Real runs that lose nodes and go on (--on-failure=shrink).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

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
  const std::string algorithm = GetParam();
  // Without rounds, others may do the most of the steps: of these few each is sure.
  const bool rounds = algorithm != "adpsgd" && algorithm != "downpour:window=3";
  command.push_back(std::string("--chaos=kill:rank=2:at=round:") + (rounds ? "30" : "5"));
  command.push_back(std::string("--chaos=kill:rank=1:at=round:") + (rounds ? "119" : "7"));
  const Ended run = RunGrapevine(command);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(ContainsRegex("rank 2 .*; [23] of 4 nodes go on"),
                                ContainsRegex("rank 1 .*; [23] of 4 nodes go on"),
                                HasSubstr("; 2 of 4 nodes go on")));
  const auto summary = SummaryOf(folder.File("run"));
  const auto expected = SummaryOf(folder.File("whole"));
  EXPECT_EQ(summary.at("living"), 2);
  std::vector<int> lost;
  for (const nlohmann::json& change : summary.at("membership")) {
    for (const int rank : change.at("lost")) lost.push_back(rank);
  }
  EXPECT_THAT(lost, UnorderedElementsAre(1, 2));
  EXPECT_EQ(summary.at("rounds"), 120);
  const double accuracy = summary.at("test_accuracy"), undisturbed = expected.at("test_accuracy");
  // Without rounds, how far 120 small steps lead depends on how old gradients were.
  const double chance = 0.1;
  EXPECT_GT(accuracy, rounds ? undisturbed - 0.1 : 2 * chance);
  EXPECT_GT(undisturbed, 2 * chance);
  const std::vector<nlohmann::json> metrics = JsonLines(folder.File("run/metrics.jsonl"));
  ASSERT_FALSE(metrics.empty());
  EXPECT_FALSE(JsonLines(folder.File("whole/metrics.jsonl")).front().contains("living"));
  if (rounds) {
    // What rank 2 measured in its first rounds may have died with it.
    EXPECT_GE(metrics.front().value("living", 4), 3);
  }
  EXPECT_EQ(metrics.back().at("living"), 2);
  EXPECT_TRUE(metrics.back().contains("test_accuracy")) << "of the living";
  int64_t bytes = 0;
  for (const nlohmann::json& line : metrics) {
    EXPECT_GE(line.at("bytes_sent_total").get<int64_t>(), bytes) << line;
    bytes = line.at("bytes_sent_total").get<int64_t>();
  }
  const bool served = algorithm == "ps" || algorithm.starts_with("downpour");
  for (const std::string node : {"0", "3"}) {
    const bool has_model = !(served && node == "3");
    EXPECT_EQ(std::filesystem::exists(folder.File("run/node-" + node + "/model.safetensors")),
              has_model)
        << node;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("run/node-2/model.safetensors")));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Survival,
                         ::testing::Values("dpsgd", "dpsgd:order=atc", "dpsgd:local=3",
                                           "noloco:every=5", "sgp", "adpsgd", "allreduce:buckets=2",
                                           "average:every=3", "ps", "downpour:window=3"));

// A node that dies after its 40th round has no part in the 41st, whoever hears of it when.
TEST(SurvivalOfSums, TheSameBitsInBothWorlds) {
  for (const std::string algorithm :
       {"allreduce:halving-doubling", "allreduce:tree:buckets=2", "ps"}) {
    const ScratchFolder folder;
    const auto run = [&](const std::string& world, const std::vector<std::string>& own) {
      std::vector<std::string> command = {world,
                                          "-n4",
                                          "--algorithm=" + algorithm,
                                          "--model=softmax",
                                          "--data=synthetic:train=512:test=200",
                                          "--batch=8",
                                          "--rounds=80",
                                          "--on-failure=shrink",
                                          "--chaos=kill:rank=2:at=round:40",
                                          "--out=" + folder.File(world)};
      command.insert(command.end(), own.begin(), own.end());
      return RunGrapevine(command);
    };
    const Ended real = run("train", {});
    ASSERT_EQ(real.exit_code, 0) << real.output;
    const Ended simulated = run("sim", {"--compute=10ms"});
    ASSERT_EQ(simulated.exit_code, 0) << simulated.output;
    for (const std::string node : {"0", "1", "3"}) {
      if (algorithm == "ps" && node == "3") continue;  // the server
      const std::string model = "/node-" + node + "/model.safetensors";
      EXPECT_EQ(FileText(folder.File("train") + model), FileText(folder.File("sim") + model))
          << algorithm << ", " << model;
    }
  }
}

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

// What is silent for so long is lost. Where processors and disks are busy the living are late, too.
std::string PeerTimeout() { return "--peer-timeout=" + std::to_string(Slowness()) + "s"; }

// Four nodes that would go on for long, in their first rounds.
class SurvivalOfSignals : public ::testing::Test {
 protected:
  explicit SurvivalOfSignals(const std::vector<std::string>& more = {}) : run_(Command(more)) {}

  std::vector<std::string> Command(const std::vector<std::string>& more) const {
    std::vector<std::string> command = {"train",
                                        "-n",
                                        "4",
                                        "--model=phantom:1MB",
                                        "--compute=5ms",
                                        "--rounds=600",
                                        PeerTimeout(),
                                        "--on-failure=shrink",
                                        "--out",
                                        folder_.File("run")};
    command.insert(command.end(), more.begin(), more.end());
    return command;
  }

  void SetUp() override { ASSERT_TRUE(run_.AwaitOutput("round 3/")) << run_.output(); }

  void Signal(int rank, int signal) {
    const pid_t node = run_.Node(rank);
    ASSERT_NE(node, 0);
    ASSERT_EQ(kill(node, signal), 0);
  }

  ScratchFolder folder_;
  GrapevineProcess run_;
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

TEST_F(SurvivalOfSignals, HalfOfThemMayDie) {
  for (const int rank : {1, 2}) Signal(rank, SIGKILL);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), HasSubstr("2 of 4 nodes go on"));
}

TEST_F(SurvivalOfSignals, FewerThanHalfOfThemDoNotGoOnByThemselves) {
  for (const int rank : {1, 2, 3}) Signal(rank, SIGKILL);
  EXPECT_EQ(run_.Await(), 6) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(), HasSubstr("1 of 4 nodes is left, fewer than half of the 4 that were "
                                       "in the run within " +
                                       PeerTimeout() + "; with --min-nodes=1 so few would go on"));
}

TEST_F(SurvivalOfSignals, NorWithoutRankZero) {
  for (const int rank : {0, 1, 2}) Signal(rank, SIGKILL);
  EXPECT_EQ(run_.Await(), 6) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(), HasSubstr("has the role of rank 0 now; 1 of 4 nodes is left, fewer "
                                       "than half of the 4 that were in the run"));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("run/summary.json")));
}

// The user has said how few may go on.
class SurvivalOfTheLast : public SurvivalOfSignals {
 protected:
  SurvivalOfTheLast() : SurvivalOfSignals({"--min-nodes=1"}) {}
};

TEST_F(SurvivalOfTheLast, AllButRankZeroMayDie) {
  for (const int rank : {1, 2, 3}) Signal(rank, SIGKILL);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), HasSubstr("1 of 4 nodes goes on"));
}

TEST_F(SurvivalOfSignals, AStoppedRankZeroIsGoneOnWithout) {
  Signal(0, SIGSTOP);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(), ContainsRegex("has the role of rank 0 now; 3 of 4 nodes go on"));
}

TEST_F(SurvivalOfSignals, ARankZeroThatComesBackFindsThatAnotherHasItsRole) {
  Signal(0, SIGSTOP);
  ASSERT_TRUE(run_.AwaitOutput("has the role of rank 0 now")) << run_.output();
  Signal(0, SIGCONT);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), ContainsRegex("\\[0\\] grapevine node: .*another node has its role by "
                                           "now.*: the others have lost it, and go on without it"));
}

// For longer than --peer-timeout, as when a laptop sleeps, or a virtual machine is frozen.
TEST_F(SurvivalOfSignals, ARunThatIsStoppedAsAWholeGoesOn) {
  for (const int rank : {0, 1, 2, 3}) Signal(rank, SIGSTOP);
  std::this_thread::sleep_for(Patient(std::chrono::seconds(3)));
  for (const int rank : {3, 1, 2, 0}) Signal(rank, SIGCONT);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(),
              AllOf(ContainsRegex("rank 0 itself stood still for [0-9.]+ s"),
                    Not(HasSubstr("nodes go on")), Not(HasSubstr("has the role of rank 0 now"))));
  EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
}

TEST_F(SurvivalOfSignals, ARankZeroThatIsToldToEndLeavesAlone) {
  Signal(0, SIGTERM);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_THAT(run_.output(), ContainsRegex("has the role of rank 0 now; 3 of 4 nodes go on"));
}

TEST_F(SurvivalOfTheLast, AllButOneMayDieRankZeroFirst) {
  Signal(0, SIGKILL);
  ASSERT_TRUE(run_.AwaitOutput("has the role of rank 0 now")) << run_.output();
  for (const int rank : {1, 3}) Signal(rank, SIGKILL);
  EXPECT_EQ(run_.Await(), 0) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
}

// Rank 0's role does not move: with it, the others are at the end, too.
class StrandedRankZero : public ::testing::TestWithParam<const char*> {};

TEST_P(StrandedRankZero, IsGivenUpAndNamed) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n4", std::string("--algorithm=") + GetParam(),
                        "--model=phantom:1MB", "--compute=5ms", "--rounds=100000",
                        "--peer-timeout=2s", "--on-failure=shrink", "--out=" + folder.File("run")});
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  const pid_t stopped = run.Node(0);
  ASSERT_NE(stopped, 0);
  ASSERT_EQ(kill(stopped, SIGSTOP), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(),
              ContainsRegex("grapevine train: rank 0 .process " + std::to_string(stopped) +
                            ". has been stopped .SIGSTOP. for [0-9.]+ s, and nobody else is left"));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, StrandedRankZero,
                         ::testing::Values("adpsgd", "ps", "ps:async", "easgd:async"));

TEST_F(SurvivalOfSignals, TheOnlyOneLeftThatIsStoppedIsGivenUpAndNamed) {
  for (const int rank : {0, 1, 3}) Signal(rank, SIGKILL);
  Signal(2, SIGSTOP);
  EXPECT_EQ(run_.Await(), kPeerLost) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(), ContainsRegex("grapevine train: rank 2 .process [0-9]+. has been "
                                           "stopped .SIGSTOP."));
}

std::vector<int64_t> RoundsOf(const std::vector<nlohmann::json>& metrics) {
  std::vector<int64_t> rounds;
  for (const nlohmann::json& line : metrics) rounds.push_back(line.at("round").get<int64_t>());
  return rounds;
}

// The run directory is as whole as if rank 0 were there.
TEST(SurvivalOfRankZero, AnotherTakesItsRoleOver) {
  const ScratchFolder folder;
  std::vector<std::string> command = Mortals("dpsgd", folder.File("run"));
  command[1] = "-n8";
  const Ended whole = RunGrapevine(Mortals("dpsgd", folder.File("whole")));
  ASSERT_EQ(whole.exit_code, 0) << whole.output;
  command.push_back("--chaos=kill:rank=0:at=round:50");
  const Ended run = RunGrapevine(command);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("has the role of rank 0 now; 7 of 8 nodes go on"));
  EXPECT_THAT(run.output, HasSubstr("round 120/120")) << "its progress is shown";
  const auto summary = SummaryOf(folder.File("run"));
  EXPECT_EQ(summary.at("rounds"), 120);
  EXPECT_NEAR(summary.at("test_accuracy").get<double>(),
              SummaryOf(folder.File("whole")).at("test_accuracy").get<double>(), 0.1);
  EXPECT_TRUE(summary.contains("local_test_accuracy"));
  const std::vector<nlohmann::json> metrics = JsonLines(folder.File("run/metrics.jsonl"));
  const std::vector<int64_t> rounds = RoundsOf(metrics);
  EXPECT_TRUE(std::ranges::is_sorted(rounds, std::ranges::less_equal{}));
  EXPECT_EQ(rounds.front(), 8) << "rank 0's measurements are kept";
  EXPECT_FALSE(metrics.front().contains("living"));
  EXPECT_EQ(metrics.back().at("living"), 7);
  EXPECT_TRUE(metrics.back().contains("test_accuracy"));
  int64_t bytes = 0;
  for (const nlohmann::json& line : metrics) {
    EXPECT_GE(line.at("bytes_sent_total").get<int64_t>(), bytes) << line;
    bytes = line.at("bytes_sent_total").get<int64_t>();
  }
  for (const char* file : {"model.safetensors", "node-7/model.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(folder.File(std::string("run/") + file))) << file;
  }
  EXPECT_FALSE(std::filesystem::exists(folder.File("run/.role")));
}

// Evaluations move the end of the run one by one, at whoever has the role.
TEST(SurvivalOfRankZero, ATargetIsMetWithoutIt) {
  const ScratchFolder folder;
  std::vector<std::string> command = Mortals("dpsgd", folder.File("run"));
  command.push_back("--target-accuracy=0.5");
  command.push_back("--chaos=kill:rank=0:at=round:20");
  const Ended run = RunGrapevine(command);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("has the role of rank 0 now; 3 of 4 nodes go on"));
  const auto summary = SummaryOf(folder.File("run"));
  EXPECT_LT(summary.at("rounds"), 120);
  EXPECT_GE(summary.at("test_accuracy").get<double>(), 0.5);
}

// How the batch grows depends on all evaluations, which rank 0 alone has had.
TEST(SurvivalOfRankZero, ARunWhoseBatchGrowsAtPlateausEndsWithoutIt) {
  const ScratchFolder folder;
  std::vector<std::string> command = Mortals("dpsgd", folder.File("run"));
  std::ranges::replace(command, "--rounds=120", "--epochs=8");
  command.push_back("--batch-schedule=plateau");
  command.push_back("--chaos=kill:rank=0:at=round:20");
  const Ended run = RunGrapevine(command);
  EXPECT_EQ(run.exit_code, 6) << run.output;
}

// Long before --peer-timeout, for which this test would not wait.
TEST(SurvivalOfSilence, ANodeThatWasHeardOftenIsMissedSoon) {
  const ScratchFolder folder;
  const Ended run =
      RunGrapevine({"train", "-n3", "--model=phantom:1kB", "--compute=10ms", "--rounds=400",
                    "--peer-timeout=1h", "--step-timeout=2h", "--min-peer-timeout=1s",
                    "--chaos=stop:rank=2:at=2s:for=1h", "--out=" + folder.File("run")});
  EXPECT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output,
              AllOf(ContainsRegex("rank 2 .* is silent: last heard .*, as its silences have been "
                                  "short; --min-peer-timeout=1s is the least"),
                    HasSubstr("2 of 3 nodes go on")));
}

TEST(SurvivalOfServers, ARunEndsWithOneOfThem) {
  for (const char* algorithm : {"ps", "ps:async"}) {
    const ScratchFolder folder;
    std::vector<std::string> command = Mortals(algorithm, folder.File("run"));
    command.push_back("--chaos=kill:rank=3:at=round:30");
    const Ended run = RunGrapevine(command);
    EXPECT_EQ(run.exit_code, 6) << run.output;
    EXPECT_THAT(run.output, HasSubstr("rank 3 is a parameter server, and its part of the model is "
                                      "lost with it"));
    command = Mortals(algorithm, folder.File("simulated"));
    command[0] = "sim";
    command.insert(command.end(), {"--compute=1ms", "--chaos=kill:rank=3:at=round:30"});
    const Ended simulated = RunGrapevine(command);
    EXPECT_EQ(simulated.exit_code, 6) << simulated.output;
    EXPECT_THAT(simulated.output, HasSubstr("rank 3"));
  }
}

TEST(SurvivalOf, WhatCannotGoOnIsRefused) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--algorithm=allreduce:torus:1x2"},
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
