// Hosts of which one cannot reach some of the others: they are network namespaces.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/virtual_hosts.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// Six nodes, each on a host of its own, of which all have to do with each other.
class BadNetwork : public ::testing::Test {
 protected:
  static constexpr int kHosts = 6;

  void SetUp() override {
    if (!hosts_.up()) GTEST_SKIP() << "network namespaces are missing: " << hosts_.output();
  }

  void Start(const std::string& flags) {
    const std::string program = std::filesystem::canonical("grapevine");
    for (int rank = 0; rank < kHosts; ++rank) {
      nodes_.push_back(
          On(rank, "exec " + program + " node --world-size=6 --insecure --master-addr=node1" +
                       " --rank=" + std::to_string(rank) + " --out=" + folder_.File("run") +
                       " --topology=complete --on-failure=shrink --rounds=2000 --log-every=50" +
                       " --model=softmax --data=synthetic:train=512:test=200 " + flags));
    }
  }

  std::unique_ptr<GrapevineProcess> On(int rank, const std::string& command) {
    return std::make_unique<GrapevineProcess>(
        hosts_.On(rank + 1, command), GrapevineProcess::Options{.program = VirtualHosts::kProgram});
  }

  // What this host sends the others is lost from now on, without a word to anybody.
  void Cut(int rank, const std::vector<int>& others) {
    std::string command;
    for (const int other : others) {
      command += "ip neigh replace 10.0.0." + std::to_string(other + 1) +
                 " lladdr 02:00:00:00:00:99 nud permanent dev eth0\n";
    }
    const std::unique_ptr<GrapevineProcess> cut = On(rank, "PATH=$PATH:/usr/sbin\n" + command);
    ASSERT_EQ(cut->Await(), 0) << cut->output();
  }

  const ScratchFolder folder_;
  VirtualHosts hosts_{folder_.path(), kHosts};
  std::vector<std::unique_ptr<GrapevineProcess>> nodes_;  // go first
};

TEST_F(BadNetwork, OfOneHostThatReachesRankZeroCostsThatHostAlone) {
  Start("--peer-timeout=3s");
  ASSERT_TRUE(nodes_[0]->AwaitOutput("round 50/")) << nodes_[0]->output();
  Cut(3, {1, 2});
  for (int rank = 0; rank < kHosts; ++rank) {
    EXPECT_EQ(nodes_[rank]->Await(), rank == 3 ? kPeerLost : 0) << nodes_[rank]->output();
  }
  EXPECT_THAT(nodes_[0]->output(),
              AllOf(HasSubstr("5 of 6 nodes go on"), ContainsRegex("lost rank [123]")));
}

// Nobody is lost who was never there: a run that loses nodes before its first round has not begun.
TEST_F(BadNetwork, WhereTwoHaveNeverMetIsNoRunAtAll) {
  Cut(2, {4});
  Start("--peer-timeout=3s --rendezvous-timeout=8s");
  for (int rank = 0; rank < kHosts; ++rank) {
    EXPECT_EQ(nodes_[rank]->Await(), kRendezvous) << nodes_[rank]->output();
  }
  EXPECT_THAT(nodes_[0]->output(), AllOf(ContainsRegex("rank [24]"), Not(HasSubstr("finished"))));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("run/summary.json")));
}

}  // namespace
}  // namespace grapevine::testing
