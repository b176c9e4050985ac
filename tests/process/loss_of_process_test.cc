// Processes of a local run that die, stop or are told to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <string>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kPeerLost = 6;

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
                         "--rounds=100000", "--peer-timeout=2s", "--out", folder_.File("run")}};
};

TEST_F(LossOfProcess, AKilledNodeIsNamedByAll) {
  const std::string process = std::to_string(run_.Node(1));
  SignalNode(1, SIGKILL);
  ExpectEnd(kPeerLost);
  for (const char* witness : {"\\[0\\]", "\\[2\\]"}) {
    EXPECT_THAT(run_.output(), ContainsRegex(std::string(witness) +
                                             " grapevine node: rank 1 at 127.0.0.1:[0-9]+ died: "
                                             "its connection to rank 0 broke in round [0-9]+"));
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
  EXPECT_THAT(run_.output(), AllOf(HasSubstr("grapevine train: ended by signal 2, Interrupt"),
                                   Not(HasSubstr("grapevine node"))));
}

TEST_F(LossOfProcess, TerminationEndsAllNodesAndIsSaidOnce) {
  run_.Signal(SIGTERM);
  ExpectEnd(128 + SIGTERM);
  EXPECT_THAT(run_.output(), AllOf(HasSubstr("grapevine train: ended by signal 15, Terminated"),
                                   Not(HasSubstr("grapevine node"))));
}

TEST_F(LossOfProcess, ANodeThatIsTerminatedAloneIsNamedByAll) {
  SignalNode(1, SIGTERM);
  ExpectEnd(128 + SIGTERM);
  EXPECT_THAT(run_.output(),
              ContainsRegex("\\[2\\] grapevine node: rank 1 at .*: terminated .SIGTERM."));
}

}  // namespace
}  // namespace grapevine::testing
