// Processes of a local run that die, stop or are told to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

bool Contains(const std::string& path, const std::string& text) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(text) != std::string::npos) return true;
  }
  return false;
}

// Three nodes that would go on for long, in their first rounds.
class LossOfProcess : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(run_.AwaitOutput("round 3/")) << run_.output(); }

  // The run ends with `exit_code`, and nobody is left.
  void ExpectEnd(int exit_code) {
    EXPECT_EQ(run_.Await(), exit_code) << run_.output();
    EXPECT_TRUE(run_.AwaitNobody());
  }

  void SignalNode(int rank, int signal) {
    const pid_t node = run_.Node(rank);
    ASSERT_NE(node, 0);
    ASSERT_EQ(kill(node, signal), 0);
  }

  // Measurements of rank 0.
  int64_t Measurements() const {
    std::ifstream file(folder_.File("run/metrics.jsonl"));
    int64_t lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines;
  }

  ScratchFolder folder_;
  GrapevineProcess run_{{"train", "-n", "3", "--model=phantom:1MB", "--compute=5ms",
                         "--rounds=100000", "--peer-timeout=2s", "--on-failure=end", "--out",
                         folder_.File("run")}};
};

// By the end of its connection; where that is not read within half of --peer-timeout, on a
// machine that does not come to it, by the word of a peer.
TEST_F(LossOfProcess, AKilledNodeIsNamedByAll) {
  const std::string process = std::to_string(run_.Node(1));
  SignalNode(1, SIGKILL);
  ExpectEnd(kPeerLost);
  for (const char* witness : {"\\[0\\]", "\\[2\\]"}) {
    EXPECT_THAT(run_.output(),
                ContainsRegex(std::string(witness) +
                              " grapevine node: (rank 1 at 127.0.0.1:[0-9]+ died: its connection "
                              "to rank 0 broke in round [0-9]+|rank [02] lost rank 1 in round "
                              "[0-9]+: rank 1 .127.0.0.1:[0-9]+. ended the connection: .*; rank 0 "
                              "heard from rank 1 [0-9.]+ s ago in round [0-9]+)"));
  }
  EXPECT_THAT(run_.output(), HasSubstr("grapevine train: rank 1 (process " + process +
                                       ") was killed by signal 9, Killed"));
}

TEST_F(LossOfProcess, AStoppedNodeIsToldFromADeadOne) {
  SignalNode(1, SIGSTOP);
  ExpectEnd(kPeerLost);
  EXPECT_THAT(run_.output(),
              AllOf(ContainsRegex("\\[2\\] grapevine node: rank 1 at 127.0.0.1:[0-9]+ is silent: "
                                  "last heard [0-9.]+ s ago in round [0-9]+"),
                    HasSubstr("--peer-timeout=2s is how long that may last"),
                    ContainsRegex("grapevine train: rank 1 .process [0-9]+. did not end when the "
                                  "others did, and was killed; it was stopped")));
}

TEST_F(LossOfProcess, AKilledRankZeroEndsTheOthers) {
  SignalNode(0, SIGKILL);
  ExpectEnd(kPeerLost);
  for (const char* witness : {"[1]", "[2]"}) {
    EXPECT_THAT(run_.output(), HasSubstr(std::string(witness) +
                                         " grapevine node: rank 0 (the coordinator at 127.0.0.1:"));
  }
  EXPECT_THAT(run_.output(),
              AllOf(HasSubstr("died: its connection broke"),
                    ContainsRegex("rank 0 .process [0-9]+. was killed by signal 9")));
}

TEST_F(LossOfProcess, AStoppedRankZeroEndsTheOthers) {
  SignalNode(0, SIGSTOP);
  ExpectEnd(kPeerLost);
  EXPECT_THAT(run_.output(),
              AllOf(ContainsRegex("rank 0 .the coordinator at 127.0.0.1:[0-9]+. is silent: last "
                                  "heard [0-9.]+ s ago"),
                    HasSubstr("--peer-timeout=2s"),
                    ContainsRegex("rank 0 .process [0-9]+. did not end when the others did")));
}

TEST(Standstill, WhoeverStoppedAloneAndFindsTheOthersGoneBlamesItself) {
  const ScratchFolder folder;
  const std::string port = std::to_string(FreePort());
  std::vector<std::unique_ptr<GrapevineProcess>> nodes;  // without a launcher, which would kill it
  for (int rank = 0; rank < 3; ++rank) {
    nodes.push_back(std::make_unique<GrapevineProcess>(std::vector<std::string>{
        "node", "--rank=" + std::to_string(rank), "--world-size=3", "--master-addr=127.0.0.1",
        "--master-port=" + port, "--model=phantom:1MB", "--compute=5ms", "--rounds=100000",
        "--peer-timeout=2s", "--on-failure=end", "--out=" + folder.File("run")}));
  }
  ASSERT_TRUE(nodes[0]->AwaitOutput("round 3/")) << nodes[0]->output();
  nodes[0]->Signal(SIGSTOP);
  for (const int rank : {1, 2}) {
    EXPECT_EQ(nodes[rank]->Await(), kPeerLost);
    EXPECT_THAT(nodes[rank]->output(), HasSubstr("is silent: last heard"));
  }
  nodes[0]->Signal(SIGCONT);
  EXPECT_EQ(nodes[0]->Await(), kPeerLost);
  EXPECT_THAT(nodes[0]->output(), ContainsRegex("rank 0 itself stood still for [0-9.]+ s .*"
                                                " ranks? .* gone meanwhile"));
}

// A laptop that sleeps, a virtual machine that is frozen, a container's freezer.
TEST(StandstillOfAll, ForLongerThanPeersWaitEndsNothing) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "3", "--model=phantom:1MB", "--compute=5ms", "--rounds=600",
                        "--peer-timeout=2s", "--on-failure=end", "--out", folder.File("run")});
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  const auto signal_all = [&run](int signal) {
    for (const int rank : {0, 1, 2}) {
      ASSERT_NE(run.Node(rank), 0);
      ASSERT_EQ(kill(run.Node(rank), signal), 0);
    }
  };
  signal_all(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  signal_all(SIGCONT);
  EXPECT_EQ(run.Await(), 0) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(), ContainsRegex("rank 0 itself stood still for [0-9.]+ s"));
}

TEST(LossOfServer, AKilledParameterServerIsNamedByItsWorkers) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "4", "--algorithm=ps:servers=2", "--model=phantom:1MB",
                        "--compute=5ms", "--rounds=100000", "--peer-timeout=2s", "--out",
                        folder.File("run")});
  ASSERT_TRUE(run.AwaitOutput("round 3/")) << run.output();
  ASSERT_NE(run.Node(3), 0);
  ASSERT_EQ(kill(run.Node(3), SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  for (const char* witness : {"\\[0\\]", "\\[1\\]", "\\[2\\]"}) {
    EXPECT_THAT(run.output(), ContainsRegex(std::string(witness) +
                                            " grapevine node: rank 3 at 127.0.0.1:[0-9]+ died"));
  }
}

// The evaluation would take minutes.
TEST(Evaluation, TerminationDoesNotWaitForIt) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "2", "--model=resnet20",
                        "--data=synthetic:train=64:test=100000", "--rounds=20",
                        "--eval-every=0.0625", "--batch=2", "--peer-timeout=2s", "--on-failure=end",
                        "--out", folder.File("run")});
  ASSERT_TRUE(run.AwaitOutput("evaluating, while rank 1 waits for it")) << run.output();
  ASSERT_EQ(kill(run.Node(0), SIGTERM), 0);
  EXPECT_EQ(run.Await(), 128 + SIGTERM) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(),
              ContainsRegex("\\[1\\] grapevine node: rank 0 at .*: terminated .SIGTERM."));
}

// Longer than both time-outs, between rounds and after the last.
TEST(Evaluation, ALongOneEndsNothing) {
  const ScratchFolder folder;
  const Ended ended = RunGrapevine({"train", "-n", "2", "--data=synthetic:train=320:test=40000",
                                    "--eval-every=0.2", "--epochs=0.6", "--peer-timeout=1s",
                                    "--step-timeout=1s", "--out", folder.File("run")});
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_TRUE(std::filesystem::exists(folder.File("run/summary.json")));
}

TEST_F(LossOfProcess, AKilledLauncherTakesItsNodesAlong) {
  run_.Signal(SIGKILL);
  ExpectEnd(128 + SIGKILL);
}

TEST_F(LossOfProcess, AStoppedLauncherDoesNotStopTheRun) {
  run_.Signal(SIGSTOP);
  const int64_t before = Measurements();
  EXPECT_TRUE(Eventually([&] { return Measurements() > before + 100; }));
  run_.Signal(SIGCONT);
  run_.Signal(SIGTERM);
  ExpectEnd(128 + SIGTERM);
}

TEST_F(LossOfProcess, AnInterruptEndsAllNodesAndIsSaidOnce) {
  run_.Signal(SIGINT);
  ExpectEnd(128 + SIGINT);
  EXPECT_THAT(
      run_.output(),
      AllOf(ContainsRegex(
                "grapevine train: ended by signal 2, Interrupt; .* has its metrics up to here"),
            Not(HasSubstr("grapevine node"))));
}

TEST_F(LossOfProcess, TerminationEndsAllNodesAndIsSaidOnce) {
  run_.Signal(SIGTERM);
  ExpectEnd(128 + SIGTERM);
  EXPECT_THAT(run_.output(), AllOf(HasSubstr("grapevine train: ended by signal 15, Terminated"),
                                   Not(HasSubstr("grapevine node"))));
}

TEST_F(LossOfProcess, AClosedTerminalEndsAllNodes) {
  run_.Signal(SIGHUP);
  run_.Signal(SIGHUP);  // the kernel's and the shell's
  ExpectEnd(128 + SIGTERM);
  EXPECT_THAT(run_.output(), AllOf(HasSubstr("grapevine train: ended by signal 1, Hangup"),
                                   Not(HasSubstr("killed")), Not(HasSubstr("grapevine node"))));
}

TEST_F(LossOfProcess, TerminationReachesNodesThatAreStopped) {
  for (int rank = 0; rank < 3; ++rank) SignalNode(rank, SIGSTOP);
  run_.Signal(SIGTERM);
  ExpectEnd(128 + SIGTERM);
}

TEST_F(LossOfProcess, ANodeWhoseTerminalClosesIsNamedByAll) {
  SignalNode(1, SIGHUP);
  ExpectEnd(128 + SIGTERM);
  EXPECT_THAT(run_.output(),
              ContainsRegex("\\[2\\] grapevine node: rank 1 at .*: terminated .SIGHUP."));
}

TEST_F(LossOfProcess, ANodeThatIsTerminatedAloneIsNamedByAll) {
  SignalNode(1, SIGTERM);
  ExpectEnd(128 + SIGTERM);
  EXPECT_THAT(run_.output(),
              ContainsRegex("\\[2\\] grapevine node: rank 1 at .*: terminated .SIGTERM."));
}

// Nodes that take a while to prepare, and to evaluate what they trained.
class LossOfLearner : public ::testing::Test {
 protected:
  pid_t AwaitNode(int rank) {
    pid_t node = 0;
    EXPECT_TRUE(Eventually([&] { return (node = run_.Node(rank)) != 0; })) << run_.output();
    return node;
  }

  ScratchFolder folder_;
  GrapevineProcess run_{{"train", "-n", "3", "--model=lenet5",
                         "--data=synthetic:train=6000:test=8000", "--rounds=3", "--log-every=1",
                         "--log-level=info", "--peer-timeout=15s", "--on-failure=end", "--out",
                         folder_.File("run")}};
};

TEST_F(LossOfLearner, ANodeThatIsStoppedOnceItHasTrainedIsKilledAndNamed) {
  const pid_t late = AwaitNode(2), stopped = AwaitNode(1);
  // The last node evaluates until the other one has trained and is stopped.
  // All have gone through all rounds: before that, the others may want a message of the last one.
  for (const char* node : {"node-2", "node-1", "node-0"}) {
    const std::string measured = folder_.File(std::string("run/") + node + "/metrics.jsonl");
    ASSERT_TRUE(Eventually([&] { return Contains(measured, "\"round\":3,"); })) << run_.output();
  }
  ASSERT_EQ(kill(late, SIGSTOP), 0);
  const std::string model = folder_.File("run/node-1/model.safetensors");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(model); })) << run_.output();
  ASSERT_EQ(kill(stopped, SIGSTOP), 0);
  ASSERT_EQ(kill(late, SIGCONT), 0);
  EXPECT_EQ(run_.Await(), kPeerLost) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
  EXPECT_THAT(run_.output(),
              ContainsRegex("grapevine train: rank 1 .process [0-9]+. did not end when the others "
                            "did, and was killed; it was stopped"));
}

// Though it would go on without a node later, nobody waits for one that died before it began.
TEST(LossAtTheStart, EndsARunThatHasNotBegun) {
  const ScratchFolder folder;
  GrapevineProcess run({"train", "-n", "3", "--model=lenet5",
                        "--data=synthetic:train=6000:test=8000", "--rounds=1000",
                        "--peer-timeout=2s", "--out", folder.File("run")});
  pid_t stopped = 0, killed = 0;
  ASSERT_TRUE(Eventually([&] { return (stopped = run.Node(1)) != 0; })) << run.output();
  ASSERT_EQ(kill(stopped, SIGSTOP), 0);
  ASSERT_TRUE(Eventually([&] { return (killed = run.Node(2)) != 0; })) << run.output();
  ASSERT_EQ(kill(killed, SIGKILL), 0);
  EXPECT_EQ(run.Await(), kPeerLost) << run.output();
  EXPECT_TRUE(run.AwaitNobody());
  EXPECT_THAT(run.output(),
              ContainsRegex("grapevine train: rank 2 .process [0-9]+. was killed by signal 9"));
}

TEST_F(LossOfLearner, TerminationReachesANodeThatIsStoppedBeforeItListens) {
  ASSERT_EQ(kill(AwaitNode(0), SIGSTOP), 0);
  run_.Signal(SIGTERM);
  EXPECT_EQ(run_.Await(), 128 + SIGTERM) << run_.output();
  EXPECT_TRUE(run_.AwaitNobody());
}

TEST_F(LossOfLearner, ANodeThatPreparesCanBeTerminated) {
  ASSERT_TRUE(run_.AwaitOutput("rank 0: ")) << run_.output();  // what it prepares
  ASSERT_EQ(kill(AwaitNode(0), SIGTERM), 0);
  EXPECT_EQ(run_.Await(), 128 + SIGTERM) << run_.output();
  EXPECT_THAT(run_.output(), HasSubstr("[0] grapevine node: terminated (SIGTERM)"));
  EXPECT_TRUE(run_.AwaitNobody());
}

}  // namespace
}  // namespace grapevine::testing
