// Real processes that come into a run that is under way, in the places of those that it has lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// For so long that another process can come in before the end.
std::vector<std::string> Learners(const std::string& out, const std::vector<std::string>& chaos) {
  std::vector<std::string> command = {"train",
                                      "-n4",
                                      "--model=softmax",
                                      "--data=synthetic:train=512:test=200",
                                      "--batch=8",
                                      "--rounds=4000",
                                      "--log-every=10",
                                      "--peer-timeout=5s",
                                      "--on-failure=shrink",
                                      "--out=" + out};
  for (const std::string& fault : chaos) command.push_back("--chaos=" + fault);
  return command;
}

// How many nodes were in the run, one measurement after another, each number once in a row.
std::vector<int> LivingIn(const std::string& metrics, int nodes) {
  std::vector<int> living;
  for (const nlohmann::json& line : JsonLines(metrics)) {
    if (!line.contains("train_loss")) continue;
    const int in = line.contains("living") ? line.at("living").get<int>() : nodes;
    if (living.empty() || living.back() != in) living.push_back(in);
  }
  return living;
}

// Each measurement of a run counts what all of its processes have sent, those that are lost, too.
void ExpectThatBytesOnlyGrow(const std::string& metrics) {
  int64_t last = 0;
  for (const nlohmann::json& line : JsonLines(metrics)) {
    if (!line.contains("bytes_sent_total")) continue;
    const auto bytes = line.at("bytes_sent_total").get<int64_t>();
    ASSERT_GE(bytes, last) << line;
    last = bytes;
  }
  EXPECT_GT(last, 0);
}

// Nobody would be there to come in to, however often.
TEST(Join, ARunWhoseNodesAllDieAtOnceIsOver) {
  const ScratchFolder folder;
  std::vector<std::string> command = Learners(folder.File("run"), {});
  command.push_back("--max-restarts=100");
  GrapevineProcess run(command);
  ASSERT_TRUE(run.AwaitOutput("round 50/")) << run.output();
  std::vector<pid_t> nodes;
  for (int rank = 0; rank < 4; ++rank) nodes.push_back(run.Node(rank));
  for (const pid_t node : nodes) ASSERT_EQ(kill(node, SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(), HasSubstr("all nodes that were in the run are lost"));
}

TEST(Join, OneThatIsKilledComesBackAndLearnsWithTheOthers) {
  const ScratchFolder folder;
  const Ended run =
      RunGrapevine(Learners(folder.File("run"), {"kill:rank=2:at=round:50:back=500ms"}));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(ContainsRegex("rank 2 .*; 3 of 4 nodes go on"),
                                HasSubstr("grapevine train: rank 2 is started again"),
                                ContainsRegex("rank 2 .* comes in from round .* on; 4 of 4")));
  EXPECT_THAT(LivingIn(folder.File("run/metrics.jsonl"), 4), ElementsAre(4, 3, 4));
  ExpectThatBytesOnlyGrow(folder.File("run/metrics.jsonl"));
  ExpectThatBytesOnlyGrow(folder.File("run/node-2/metrics.jsonl"));
  const auto summary = SummaryOf(folder.File("run"));
  EXPECT_EQ(summary.at("rounds"), 4000);
  const std::vector<nlohmann::json> metrics = JsonLines(folder.File("run/metrics.jsonl"));
  EXPECT_LT(metrics.back().at("consensus_distance").get<double>(), 1e-3) << "all have the mean";
  const nlohmann::json& own = summary.at("local_test_accuracy");
  EXPECT_NEAR(own.at("min").get<double>(), own.at("max").get<double>(), 0.03) << "of all models";
  for (const char* node : {"0", "1", "2", "3"}) {
    EXPECT_TRUE(std::filesystem::exists(
        folder.File(std::string("run/node-") + node + "/model.safetensors")));
  }
}

// So soon after the beginning that the others would be done by then.
TEST(Join, TheOthersWaitForOneWhereAllAreNeeded) {
  const ScratchFolder folder;
  std::vector<std::string> command =
      Learners(folder.File("run"), {"kill:rank=2:at=round:50:back=8s"});
  std::ranges::replace(command, "--on-failure=shrink", "--on-failure=wait");
  const Ended run = RunGrapevine(command);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, AllOf(HasSubstr("3 of 4 nodes are left, fewer than --min-nodes=4: they "
                                          "wait for others to come in"),
                                ContainsRegex("rank 2 .* comes in from round .* on; 4 of 4")));
  EXPECT_THAT(LivingIn(folder.File("run/metrics.jsonl"), 4).back(), 4);
  EXPECT_GT(SummaryOf(folder.File("run")).at("wall_time_s").get<double>(), 8);
}

TEST(Join, TheOthersDoNotWaitForever) {
  const ScratchFolder folder;
  std::vector<std::string> command = Learners(folder.File("run"), {"kill:rank=2:at=round:50"});
  std::ranges::replace(command, "--on-failure=shrink", "--on-failure=wait");
  command.push_back("--rendezvous-timeout=3s");
  const Ended run = RunGrapevine(command);
  EXPECT_EQ(run.exit_code, kPeerLost) << run.output;
  EXPECT_THAT(run.output, HasSubstr("3 of 4 nodes are left, fewer than --min-nodes=4, and not "
                                    "enough others have come in within --rendezvous-timeout=3s"));
}

TEST(Join, RankZeroComesBackWhileAnotherHasItsRole) {
  const ScratchFolder folder;
  const Ended run =
      RunGrapevine(Learners(folder.File("run"), {"kill:rank=0:at=round:50:back=500ms"}));
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output,
              AllOf(ContainsRegex("rank . has the role of rank 0 now; 3 of 4 nodes go on"),
                    ContainsRegex("rank 0 .* comes in from round .* on; 4 of 4 nodes go on")));
  EXPECT_EQ(SummaryOf(folder.File("run")).at("rounds"), 4000);
  EXPECT_THAT(LivingIn(folder.File("run/metrics.jsonl"), 4), Not(ElementsAre(4)));
  ExpectThatBytesOnlyGrow(folder.File("run/metrics.jsonl"));
  EXPECT_TRUE(std::filesystem::exists(folder.File("run/node-0/model.safetensors")));
}

TEST(Join, WhoComesWhileTheRoleMovesFindsWhoHasIt) {
  const ScratchFolder folder;
  std::vector<std::string> command =
      Learners(folder.File("run"), {"kill:rank=2:at=round:50:back=100ms", "kill:rank=0:at=round:60",
                                    "kill:rank=1:at=1500ms:back=1s"});
  command.push_back("--min-nodes=1");
  const Ended run = RunGrapevine(command);
  ASSERT_EQ(run.exit_code, 0) << run.output;
  EXPECT_THAT(run.output, ContainsRegex("rank 2 .* comes in from round"));
  EXPECT_EQ(SummaryOf(folder.File("run")).at("rounds"), 4000);
}

TEST(Join, TrainStartsAnotherInThePlaceOfOneThatIsKilledSoOften) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n4", "--model=phantom:1MB", "--compute=5ms", "--rounds=1500",
                        "--peer-timeout=5s", "--on-failure=shrink", "--max-restarts=1", "--out",
                        folder.File("run")});
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  const pid_t first = run.Node(2);
  ASSERT_NE(first, 0);
  ASSERT_EQ(kill(first, SIGKILL), 0);
  ASSERT_TRUE(run.AwaitOutput("; 4 of 4 nodes go on")) << run.output();
  const pid_t second = run.Node(2);
  ASSERT_NE(second, 0);
  ASSERT_NE(second, first);
  ASSERT_EQ(kill(second, SIGKILL), 0);
  EXPECT_EQ(run.Await(), 0) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  const std::string restarted = "rank 2 is started again";
  const std::string output = run.output();
  EXPECT_EQ(output.find(restarted), output.rfind(restarted)) << "once";
}

// Nodes that are started one by one.
class JoinByHand : public ::testing::Test {
 protected:
  std::vector<std::string> Command(int rank, const std::vector<std::string>& flags = {},
                                   const std::string& out = "run") {
    std::vector<std::string> command = {"node",
                                        "--rank=" + std::to_string(rank),
                                        "--world-size=3",
                                        "--master-addr=127.0.0.1",
                                        "--master-port=" + std::to_string(port_),
                                        "--model=phantom:1MB",
                                        "--compute=5ms",
                                        "--rounds=" + std::to_string(rounds_),
                                        "--peer-timeout=5s",
                                        "--on-failure=shrink",
                                        "--out=" + folder_.File(out)};
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
  }
  void Start() {
    for (int rank = 0; rank < 3; ++rank) {
      nodes_.push_back(std::make_unique<GrapevineProcess>(Command(rank)));
    }
    ASSERT_TRUE(nodes_[0]->AwaitOutput("round 3/")) << nodes_[0]->output();
  }
  void ExpectGoodEnds() {
    for (const auto& node : nodes_) EXPECT_EQ(node->Await(), 0) << node->output();
  }

  int rounds_ = 1500;
  const ScratchFolder folder_;
  const int port_ = FreePort();
  std::vector<std::unique_ptr<GrapevineProcess>> nodes_;
};

TEST_F(JoinByHand, ANodeTakesThePlaceOfOneThatWasKilled) {
  Start();
  nodes_[2]->Signal(SIGKILL);
  ASSERT_TRUE(nodes_[0]->AwaitOutput("2 of 3 nodes go on")) << nodes_[0]->output();
  nodes_[2] = std::make_unique<GrapevineProcess>(Command(2, {"--join"}));
  ASSERT_TRUE(nodes_[0]->AwaitOutput("; 3 of 3 nodes go on")) << nodes_[0]->output();
  ExpectGoodEnds();
}

TEST_F(JoinByHand, ARunThatHasNotBegunIsJoinedAsWithout) {
  rounds_ = 20;
  for (const int rank : {2, 1}) {
    nodes_.push_back(std::make_unique<GrapevineProcess>(Command(rank, {"--join"})));
  }
  nodes_.push_back(std::make_unique<GrapevineProcess>(Command(0)));
  ExpectGoodEnds();
  EXPECT_THAT(nodes_[2]->output(), Not(HasSubstr("comes in")));
}

TEST_F(JoinByHand, ThoseWhoAreThereBeginAndTheLastComesIn) {
  const std::vector<std::string> few = {"--min-nodes=2", "--rendezvous-timeout=3s", "--join"};
  const auto start = [&](int rank) {
    std::vector<std::string> command = Command(rank, few);
    if (rank == 0) command.pop_back();
    nodes_.push_back(std::make_unique<GrapevineProcess>(command));
  };
  start(0);
  start(2);
  ASSERT_TRUE(
      nodes_[0]->AwaitOutput("begins with 2 of 3 nodes, at least --min-nodes=2: rank 1 is "
                             "missing"))
      << nodes_[0]->output();
  ASSERT_TRUE(nodes_[0]->AwaitOutput("round 3/")) << nodes_[0]->output();
  start(1);
  ASSERT_TRUE(nodes_[0]->AwaitOutput("; 3 of 3 nodes go on")) << nodes_[0]->output();
  ExpectGoodEnds();
}

TEST_F(JoinByHand, APlaceThatIsTakenIsRefusedAndNobodyIsDisturbed) {
  Start();
  const Ended twin = RunGrapevine(Command(2, {"--join"}, "twin"));
  EXPECT_EQ(twin.exit_code, kRendezvous) << twin.output;
  EXPECT_THAT(twin.output, AllOf(HasSubstr("rank 2 is taken by the process at"),
                                 HasSubstr("which is in the run")));
  ExpectGoodEnds();
  EXPECT_THAT(nodes_[0]->output(), Not(HasSubstr("nodes go on")));
}

// They would not know of each other's messages otherwise.
TEST_F(JoinByHand, WhereNobodyGoesOnItIsRefused) {
  const std::vector<std::string> ends = {"--on-failure=end"};
  for (int rank = 0; rank < 3; ++rank) {
    nodes_.push_back(std::make_unique<GrapevineProcess>(Command(rank, ends)));
  }
  ASSERT_TRUE(nodes_[0]->AwaitOutput("round 3/")) << nodes_[0]->output();
  const Ended run = RunGrapevine(Command(2, {"--join"}, "other"));
  EXPECT_EQ(run.exit_code, kRendezvous) << run.output;
  ExpectGoodEnds();
}

TEST_F(JoinByHand, WhatCannotBeIsRefused) {
  const Ended zero = RunGrapevine(Command(0, {"--join"}));
  EXPECT_EQ(zero.exit_code, kUsage) << zero.output;
  EXPECT_THAT(zero.output, HasSubstr("--join: rank 0 begins a run"));
  const Ended ends = RunGrapevine(Command(1, {"--join", "--on-failure=end"}));
  EXPECT_EQ(ends.exit_code, kUsage) << ends.output;
  EXPECT_THAT(ends.output, AllOf(HasSubstr("--join"), HasSubstr("add --on-failure=shrink")));
}

}  // namespace
}  // namespace grapevine::testing
