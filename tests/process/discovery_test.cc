// Nodes that nobody told where rank 0 is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/node/store/etcd_server.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/short_run.h"
#include "tests/testing/certificates.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kNodes = 4;
constexpr int kUsage = 2, kOutput = 4, kRendezvous = 5, kLost = 6;

class DiscoveryByNode : public ::testing::Test {
 protected:
  std::unique_ptr<GrapevineProcess> Start(int rank, const std::string& place,
                                          const std::vector<std::string>& flags = {},
                                          const std::vector<std::string>& experiment = kShortRun) {
    std::vector<std::string> arguments = {"node",
                                          "--rank=" + std::to_string(rank),
                                          "--world-size=" + std::to_string(kNodes),
                                          "--coordinator=" + place,
                                          "--peer-timeout=3s",
                                          "--bind=127.0.0.1",
                                          "--out=" + folder_.File("run")};
    arguments.insert(arguments.end(), experiment.begin(), experiment.end());
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    return std::make_unique<GrapevineProcess>(arguments);
  }

  // Rank 0 comes last.
  void ExpectRuns(const std::string& place, const std::vector<std::string>& flags = {}) {
    std::vector<std::unique_ptr<GrapevineProcess>> nodes;
    for (int rank = kNodes - 1; rank >= 0; --rank) nodes.push_back(Start(rank, place, flags));
    for (const auto& node : nodes) EXPECT_EQ(node->Await(), 0) << node->output();
    EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
  }

  void ExpectFails(int rank, const std::string& place, int exit_code,
                   const ::testing::Matcher<std::string>& message) {
    const auto node = Start(rank, place, {"--rendezvous-timeout=2s"});
    EXPECT_EQ(node->Await(), exit_code) << node->output();
    EXPECT_THAT(node->output(), message);
  }

  // A run whose rank 0 is killed, and at once another one in the same place.
  void ExpectRunsAfterAKill(const std::string& place) {
    const auto killed = Start(0, place, {"--overwrite", "--log-level=info"});
    ASSERT_TRUE(killed->AwaitOutput("rank 0 is announced at 127.0.0.1:"));
    killed->Signal(SIGKILL);
    killed->Await();
    ExpectRuns(place, {"--overwrite"});
  }

  // For as long as both live.
  void ExpectOneRankZero(const std::string& place) {
    const auto first = Start(0, place, {"--log-level=info"});
    ASSERT_TRUE(first->AwaitOutput("rank 0 is announced at 127.0.0.1:"));
    const auto second = Start(0, place, {"--out=" + folder_.File("other")});
    EXPECT_EQ(second->Await(), kRendezvous) << second->output();
    EXPECT_THAT(second->output(), AllOf(HasSubstr("this run has a rank 0 already, at 127.0.0.1:"),
                                        HasSubstr("(since 20"), HasSubstr("end one of the two")));
    const auto one = Start(1, place), two = Start(2, place), three = Start(3, place);
    for (const auto* node : {&first, &one, &two, &three}) {
      EXPECT_EQ((*node)->Await(), 0) << (*node)->output();
    }
  }

  // Nodes of a run that takes seconds, and goes on without those that are lost.
  std::vector<std::unique_ptr<GrapevineProcess>> Training(const std::string& place) {
    const std::vector<std::string> longer = {
        "--model=softmax", "--data=synthetic:train=512:test=200",
        "--batch=8",       "--rounds=3000",
        "--log-every=50",  "--eval-every=10"};
    std::vector<std::unique_ptr<GrapevineProcess>> nodes;
    for (int rank = 0; rank < kNodes; ++rank) nodes.push_back(Start(rank, place, {}, longer));
    EXPECT_TRUE(nodes[0]->AwaitOutput("round 50/")) << nodes[0]->output();
    return nodes;
  }

  // Rank 0 is killed in the middle of a run that goes on.
  void ExpectTheRoleMoves(const std::string& place) {
    const auto nodes = Training(place);
    nodes[0]->Signal(SIGKILL);
    nodes[0]->Await();
    int took_it = 0;
    for (int rank = 1; rank < kNodes; ++rank) {
      EXPECT_EQ(nodes[rank]->Await(), 0) << nodes[rank]->output();
      const std::string output = nodes[rank]->output();
      if (output.find("has the role of rank 0 now; 3 of 4 nodes go on") == std::string::npos) {
        continue;
      }
      ++took_it;
      EXPECT_THAT(output, HasSubstr("test accuracy of the averaged model")) << "it has the results";
    }
    EXPECT_EQ(took_it, 1);
    EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
  }

  // Rank 0 is killed, the run goes on, and a supervisor starts rank 0 as for the first time, with
  // the same --out: on a disk of its own, or on one that all share.
  void ExpectTakesNothingFromALiveRun(const std::string& place, const std::string& out) {
    const std::vector<std::string> longer = {"--model=phantom:1MB", "--compute=5ms",
                                             "--rounds=2000", "--log-every=10"};
    const std::string run = folder_.File(out);
    std::vector<std::unique_ptr<GrapevineProcess>> nodes;
    nodes.push_back(Start(0, place, {"--out=" + run}, longer));
    for (int rank = 1; rank < kNodes; ++rank) nodes.push_back(Start(rank, place, {}, longer));
    ASSERT_TRUE(nodes[0]->AwaitOutput("round 50/")) << nodes[0]->output();
    nodes[0]->Signal(SIGKILL);
    nodes[0]->Await();
    const auto moved = [&nodes] {
      return std::ranges::any_of(nodes, [](const auto& node) {
        return node->output().find("has the role of rank 0 now") != std::string::npos;
      });
    };
    ASSERT_TRUE(Eventually(moved));
    const std::vector<std::string> files = {"/config.textproto", "/node-0/metrics.jsonl",
                                            "/metrics.jsonl"};
    std::vector<std::string> before;
    for (const std::string& file : files) before.push_back(FileText(run + file));
    const auto second = Start(0, place, {"--out=" + run, "--overwrite"}, longer);
    // The holder of the role may have the folder's lock.
    EXPECT_THAT(second->Await(), AnyOf(kRendezvous, kOutput)) << second->output();
    EXPECT_THAT(second->output(), AnyOf(HasSubstr("this run has a rank 0 already, at 127.0.0.1:"),
                                        HasSubstr(run + " is being written by process ")));
    for (size_t i = 0; i < files.size(); ++i) {
      EXPECT_THAT(FileText(run + files[i]), StartsWith(before[i])) << files[i];
      EXPECT_FALSE(before[i].empty()) << files[i];
    }
    for (int rank = 1; rank < kNodes; ++rank) {
      EXPECT_EQ(nodes[rank]->Await(), 0) << nodes[rank]->output();
    }
    EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
  }

  // As when a cluster takes machines away.
  void ExpectLeaves(const std::string& place) {
    const auto nodes = Training(place);
    for (const int rank : {2, 0}) {
      nodes[rank]->Signal(SIGTERM);
      EXPECT_EQ(nodes[rank]->Await(), 0) << nodes[rank]->output();
      EXPECT_THAT(nodes[rank]->output(),
                  HasSubstr("rank " + std::to_string(rank) + " has left the run: "));
    }
    for (const int rank : {1, 3}) EXPECT_EQ(nodes[rank]->Await(), 0) << nodes[rank]->output();
    EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
  }

  const ScratchFolder folder_;
};

TEST_F(DiscoveryByNode, RankZerosRoleMovesInAFolder) {
  ExpectTheRoleMoves("file:" + folder_.File("rendezvous"));
}

TEST_F(DiscoveryByNode, ASecondRankZeroTakesNothingFromALiveRunThatSharesItsFolder) {
  ExpectTakesNothingFromALiveRun("file:" + folder_.File("rendezvous"), "run");
}

TEST_F(DiscoveryByNode, ASecondRankZeroTakesNothingOfALiveRunFromItsOwnDisk) {
  ExpectTakesNothingFromALiveRun("file:" + folder_.File("rendezvous"), "disk-0");
}

TEST_F(DiscoveryByNode, WhoIsToldToEndHasLeftAndTheOthersGoOn) {
  ExpectLeaves("file:" + folder_.File("rendezvous"));
}

TEST_F(DiscoveryByNode, WhoIsInterruptedSaysSoThoughTheOthersGoOn) {
  const auto nodes = Training("file:" + folder_.File("rendezvous"));
  nodes[2]->Signal(SIGINT);
  EXPECT_EQ(nodes[2]->Await(), 130) << nodes[2]->output();
  for (const int rank : {0, 1, 3}) EXPECT_EQ(nodes[rank]->Await(), 0) << nodes[rank]->output();
}

// Nobody is left to go on.
TEST_F(DiscoveryByNode, TheLastOneThatIsToldToEndHasNotLeft) {
  const auto nodes = Training("file:" + folder_.File("rendezvous"));
  for (const auto& node : nodes) node->Signal(SIGTERM);
  int ended = 0;
  for (const auto& node : nodes) ended += node->Await() == 143;
  EXPECT_GE(ended, 1);
}

// Nobody says who would have the role.
TEST_F(DiscoveryByNode, WithoutAStoreARunEndsWithoutRankZero) {
  const std::string place = "127.0.0.1:" + std::to_string(FreePort());
  const std::vector<std::string> longer = {"--model=phantom:1MB", "--compute=5ms",
                                           "--rounds=100000"};
  std::vector<std::unique_ptr<GrapevineProcess>> nodes;
  for (int rank = 0; rank < kNodes; ++rank) nodes.push_back(Start(rank, place, {}, longer));
  ASSERT_TRUE(nodes[0]->AwaitOutput("round ")) << nodes[0]->output();
  nodes[0]->Signal(SIGKILL);
  nodes[0]->Await();
  for (int rank = 1; rank < kNodes; ++rank) EXPECT_EQ(nodes[rank]->Await(), kLost);
}

TEST_F(DiscoveryByNode, InAFolder) { ExpectRuns("file:" + folder_.File("rendezvous")); }

TEST_F(DiscoveryByNode, InAFolderAfterAKill) {
  ExpectRunsAfterAKill("file:" + folder_.File("rendezvous"));
}

TEST_F(DiscoveryByNode, InAFolderThereIsOneRankZero) {
  ExpectOneRankZero("file:" + folder_.File("rendezvous"));
}

TEST_F(DiscoveryByNode, InDns) { ExpectRuns("dns:localhost:" + std::to_string(FreePort())); }

TEST_F(DiscoveryByNode, AtAnAddress) { ExpectRuns("127.0.0.1:" + std::to_string(FreePort())); }

class DiscoveryInEtcd : public DiscoveryByNode {
 protected:
  void SetUp() override {
    if (EtcdServer::Program().empty()) GTEST_SKIP() << EtcdServer::kMissing;
    etcd_ = std::make_unique<EtcdServer>(folder_.File("etcd"));
    place_ = "etcd:" + etcd_->address() + "/run-17";
  }
  // Nodes of a run that takes seconds, which has begun.
  std::vector<std::unique_ptr<GrapevineProcess>> TrainingLonger(
      const std::vector<std::string>& flags = {}) {
    const std::vector<std::string> longer = {"--model=phantom:1MB", "--compute=20ms",
                                             "--rounds=250"};
    std::vector<std::unique_ptr<GrapevineProcess>> nodes;
    for (int rank = 0; rank < kNodes; ++rank) nodes.push_back(Start(rank, place_, flags, longer));
    EXPECT_TRUE(nodes[0]->AwaitOutput("round ")) << nodes[0]->output();
    return nodes;
  }

  std::unique_ptr<EtcdServer> etcd_;
  std::string place_;
};

// As a company's machines have them. Nobody answers at this one.
class BehindAProxy {
 public:
  static constexpr const char* kVariables[] = {"http_proxy", "https_proxy", "all_proxy",
                                               "grpc_proxy"};
  explicit BehindAProxy(std::vector<std::string> variables) : variables_(std::move(variables)) {
    for (const std::string& name : variables_) setenv(name.c_str(), "http://127.0.0.1:1", 1);
  }
  ~BehindAProxy() {
    for (const std::string& name : variables_) unsetenv(name.c_str());
  }
  BehindAProxy(const BehindAProxy&) = delete;
  BehindAProxy& operator=(const BehindAProxy&) = delete;

 private:
  const std::vector<std::string> variables_;
};

TEST_F(DiscoveryByNode, NodesUseNoProxy) {
  for (const char* variable : BehindAProxy::kVariables) {
    SCOPED_TRACE(variable);
    const BehindAProxy proxy({variable});
    ExpectRuns("127.0.0.1:" + std::to_string(FreePort()), {"--overwrite"});
  }
}

TEST_F(DiscoveryInEtcd, IsAskedThroughNoProxy) {
  const BehindAProxy proxies(
      {std::begin(BehindAProxy::kVariables), std::end(BehindAProxy::kVariables)});
  ExpectRuns(place_);
}

TEST_F(DiscoveryInEtcd, RankZeroIsFound) { ExpectRuns(place_); }
TEST_F(DiscoveryInEtcd, RankZeroIsFoundAfterAKill) { ExpectRunsAfterAKill(place_); }
TEST_F(DiscoveryInEtcd, RankZerosRoleMoves) { ExpectTheRoleMoves(place_); }
TEST_F(DiscoveryInEtcd, WhoIsToldToEndHasLeft) { ExpectLeaves(place_); }
TEST_F(DiscoveryInEtcd, ThereIsOneRankZero) { ExpectOneRankZero(place_); }

// Its authority is another than that of the nodes, which show it certificates of their own.
class DiscoveryInEtcdOverTls : public DiscoveryByNode {
 protected:
  void SetUp() override {
    if (EtcdServer::Program().empty()) GTEST_SKIP() << EtcdServer::kMissing;
    if (!CanMakeCertificates()) GTEST_SKIP() << "openssl is missing";
    ASSERT_TRUE(MakeCertificates(folder_.File("its"), "store", kNodes, "IP:127.0.0.1"));
    ASSERT_TRUE(MakeCertificates(folder_.File("ours"), "run", kNodes, "IP:127.0.0.1"));
    etcd_ = std::make_unique<EtcdServer>(folder_.File("etcd"),
                                         EtcdServer::Tls{.ca = folder_.File("its/ca.pem"),
                                                         .cert = folder_.File("its/node-0.pem"),
                                                         .key = folder_.File("its/node-0.key")});
    place_ = "etcd:" + etcd_->address() + "/run-17";
  }
  std::vector<std::string> Certificates(const std::string& flags, const std::string& folder) const {
    return {"--" + flags + "-ca=" + folder_.File(folder + "/ca.pem"),
            "--" + flags + "-cert=" + folder_.File(folder + "/node-{rank}.pem"),
            "--" + flags + "-key=" + folder_.File(folder + "/node-{rank}.key")};
  }

  std::unique_ptr<EtcdServer> etcd_;
  std::string place_;
};

TEST_F(DiscoveryInEtcdOverTls, NodesFindEachOther) {
  std::vector<std::string> flags = Certificates("tls", "ours");
  for (const std::string& flag : Certificates("etcd", "its")) flags.push_back(flag);
  ExpectRuns(place_, flags);
}

TEST_F(DiscoveryInEtcdOverTls, TheNodesOwnCertificatesServeWhereOneAuthorityHasSignedAll) {
  ExpectRuns(place_, Certificates("tls", "its"));
}

TEST_F(DiscoveryInEtcdOverTls, OthersAreTurnedAway) {
  for (std::vector<std::string> flags : {Certificates("tls", "ours"), {"--insecure"}}) {
    flags.push_back("--rendezvous-timeout=2s");
    const auto node = Start(1, place_, flags);
    EXPECT_EQ(node->Await(), kRendezvous) << node->output();
    EXPECT_THAT(node->output(), HasSubstr("etcd at 127.0.0.1:"));
  }
}

TEST_F(DiscoveryByNode, CertificatesForEtcdAreForEtcd) {
  const auto partial = Start(1, "etcd:127.0.0.1:1/run", {"--etcd-ca=ca.pem"});
  EXPECT_EQ(partial->Await(), kUsage);
  EXPECT_THAT(partial->output(),
              HasSubstr("--etcd-ca, --etcd-cert and --etcd-key belong together"));
  const auto elsewhere =
      Start(1, "dns:nodes:1", {"--etcd-ca=ca.pem", "--etcd-cert=c.pem", "--etcd-key=c.key"});
  EXPECT_EQ(elsewhere->Await(), kUsage);
  EXPECT_THAT(elsewhere->output(), HasSubstr("nobody is looked for in etcd"));
}

// Rounds need no store; what is written of the run waits for it.
TEST_F(DiscoveryInEtcd, ARunOutlivesARestartOfItsStore) {
  const auto nodes = TrainingLonger();
  etcd_->Kill();
  EXPECT_TRUE(nodes[0]->AwaitOutput("no longer announced in etcd at")) << nodes[0]->output();
  etcd_->Restart();
  for (const auto& node : nodes) EXPECT_EQ(node->Await(), 0) << node->output();
  EXPECT_TRUE(std::filesystem::exists(folder_.File("run/summary.json")));
}

TEST_F(DiscoveryInEtcd, ARunThatNeverHearsOfItsStoreAgainHasNoResults) {
  const auto nodes = TrainingLonger({"--step-timeout=12s", "--rendezvous-timeout=6s"});
  etcd_->Kill();
  for (const auto& node : nodes) EXPECT_EQ(node->Await(), kLost) << node->output();
  EXPECT_THAT(nodes[0]->output(), HasSubstr("no longer announced in etcd at"));
  EXPECT_FALSE(std::filesystem::exists(folder_.File("run/summary.json")));
}

TEST_F(DiscoveryByNode, WhatCannotWorkSaysWhoWhereAndSinceWhen) {
  ExpectFails(1, "consul:node1:8500/run", kUsage,
              AllOf(HasSubstr("--coordinator=consul:node1:8500/run"), HasSubstr("file:DIR")));
  ExpectFails(1, "file:" + folder_.File("none/store"), kRendezvous,
              AllOf(HasSubstr("cannot join the run: for "), HasSubstr(folder_.File("none/store")),
                    HasSubstr("No such file or directory"), HasSubstr("--rendezvous-timeout")));
  ExpectFails(1, "file:" + folder_.File("store"), kRendezvous,
              AllOf(HasSubstr(folder_.File("store")), HasSubstr("nothing is announced there"),
                    HasSubstr("with the same --coordinator")));
  for (const int rank : {0, 1}) {
    ExpectFails(rank, "etcd:127.0.0.1:" + std::to_string(FreePort()) + "/run", kRendezvous,
                AllOf(HasSubstr("etcd at 127.0.0.1:"), HasSubstr("did not answer within"),
                      HasSubstr("is etcd running")));
  }
  ExpectFails(1, "dns:localhost:" + std::to_string(FreePort()), kRendezvous,
              AllOf(HasSubstr("the addresses of localhost:"), HasSubstr("answers as rank 0"),
                    HasSubstr("refused")));
  ExpectFails(1, "dns:no-such-name.invalid:29500", kUsage, HasSubstr("token"));
  const auto node =
      Start(1, "dns:no-such-name.invalid:29500", {"--rendezvous-timeout=2s", "--insecure"});
  EXPECT_EQ(node->Await(), kRendezvous) << node->output();
  EXPECT_THAT(node->output(), HasSubstr("no-such-name.invalid does not resolve ("));
}

TEST_F(DiscoveryByNode, OnePlaceAtATime) {
  const auto both = Start(1, "node1:1", {"--master-addr=node1"});
  EXPECT_EQ(both->Await(), kUsage);
  EXPECT_THAT(both->output(), HasSubstr("--coordinator and --master-addr exclude each other"));
  const auto port = Start(0, "file:store", {"--master-port=29500"});
  EXPECT_EQ(port->Await(), kUsage);
  EXPECT_THAT(port->output(), AllOf(HasSubstr("--master-port says nothing"), HasSubstr("--bind")));
}

TEST_F(DiscoveryByNode, ADryRunSaysWhereItWouldLook) {
  const auto node = Start(0, "etcd:127.0.0.1:1/run-17", {"--dry-run"});
  EXPECT_EQ(node->Await(), 0) << node->output();
  EXPECT_THAT(node->output(),
              HasSubstr("listens on 127.0.0.1, any port; rank 0 is found by way of etcd at "
                        "127.0.0.1:1, key grapevine/run-17/coordinator"));
}

// Waiting for rank 0 ends as any wait does.
TEST_F(DiscoveryByNode, ANodeThatLooksIsInterrupted) {
  const auto node = Start(1, "file:" + folder_.File("store"));
  ASSERT_TRUE(node->AwaitOutput("rank 1"));
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(folder_.File("store/lock")); }));
  node->Signal(SIGTERM);
  EXPECT_EQ(node->Await(), 143) << node->output();
}

}  // namespace
}  // namespace grapevine::testing
