// `grapevine train -H`: nodes on several hosts, started over the system's own ssh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/process/documentation.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/ssh_hosts.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kSmall[] =
    " --model=softmax --data=synthetic:train=512:test=200 --epochs=0.5 --insecure --out=run ";
// Goes on until it is told to end.
constexpr char kEndless[] =
    " --model=phantom:1MB --compute=20ms --rounds=1000000 --insecure --out=run ";

class RemoteLaunch : public SshHosts {
 protected:
  // What a user of node1 types.
  std::unique_ptr<GrapevineProcess> Train(const std::string& flags) {
    return OnHost(1, "echo $$ > ../launcher; exec grapevine train " + flags);
  }
  // To the launcher itself: what its program stands for here is not it.
  void Signal(const std::string& signal) {
    const auto kill = OnHost(1, "kill -" + signal + " $(cat ../launcher)");
    ASSERT_EQ(kill->Await(), 0) << kill->output();
  }

  // The processes of Grapevine on a host.
  std::string NodesOn(int host) {
    const auto list = OnHost(host,
                             "for p in /proc/[0-9]*; do\n"
                             "  [ \"$(readlink $p/ns/net)\" = \"$(readlink /proc/self/ns/net)\" ] "
                             "|| continue\n"
                             "  [ \"$(readlink $p/exe)\" = " +
                                 fs::canonical("grapevine").string() +
                                 " ] || continue\n"
                                 "  tr '\\0' ' ' < $p/cmdline; echo\n"
                                 "done");
    list->Await();
    return list->output();
  }
  bool NobodyIsLeftOn(int host) {
    return Eventually([&] { return NodesOn(host).empty(); });
  }

  void ExpectNobodyIsLeft() {
    for (int host = 1; host <= kHosts; ++host) {
      ASSERT_TRUE(NobodyIsLeftOn(host)) << "node" << host << ": " << NodesOn(host);
    }
  }
};

// On four hosts, by the commands of the page.
class PageOnFourHosts : public RemoteLaunch {
 protected:
  std::string Block(const std::string& heading, size_t index) {
    const std::vector<std::string> blocks = Blocks("docs/cluster.md", heading, "sh");
    return index < blocks.size() ? blocks[index] : "there is no such block";
  }

  // With what the page has for $SECURITY.
  void ExpectRuns(const std::string& security) {
    const std::vector<HostCommand> commands = Commands(Block("## From one host, over ssh", 0));
    ASSERT_THAT(commands, SizeIs(1));
    folder_.Write("work/experiment.textproto",
                  Blocks("docs/cluster.md", "## By hand", "textproto").front());
    const auto train = OnHost(1, security + "\n" + commands.front().command,
                              {{"GRAPEVINE_MODEL", "softmax"},
                               {"GRAPEVINE_DATA", "synthetic:train=512:test=200"},
                               {"GRAPEVINE_EPOCHS", "0.5"}});
    EXPECT_EQ(train->Await(), 0) << train->output();
    EXPECT_THAT(train->output(), HasSubstr("test accuracy of the averaged model"));
    for (int rank = 0; rank < kHosts; ++rank) {
      EXPECT_TRUE(
          fs::exists(folder_.File("work/run/node-" + std::to_string(rank) + "/model.safetensors")));
    }
    ExpectNobodyIsLeft();
  }
};

TEST_F(PageOnFourHosts, OnATrustedNetwork) { ExpectRuns("SECURITY=--insecure"); }

// A token, and a certificate for each rank.
TEST_F(PageOnFourHosts, WithTls) {
  fs::create_directory_symlink(fs::absolute("tools"), folder_.File("work/tools"));
  const auto make = OnHost(1, Block("## Who may join: the token", 0) + Block("## TLS", 2));
  ASSERT_EQ(make->Await(), 0) << make->output();
  ExpectRuns(Block("## TLS", 3));
}

TEST_F(RemoteLaunch, SeveralOnAHostHaveTheBitsOfOneMachine) {
  const auto here = Train("-n 5" + std::string(kSmall));
  EXPECT_EQ(here->Await(), kUsage) << "--insecure says nothing of one machine";
  const auto there = Train("-H node1:2,node2,node3:2" + std::string(kSmall));
  EXPECT_EQ(there->Await(), 0) << there->output();
  const auto local = OnHost(
      1,
      "grapevine train -n 5 --model=softmax --data=synthetic:train=512:test=200 --epochs=0.5 "
      "--out=local");
  EXPECT_EQ(local->Await(), 0) << local->output();
  EXPECT_EQ(FileText(folder_.File("work/run/model.safetensors")),
            FileText(folder_.File("work/local/model.safetensors")));
}

// Each node with the certificate of its rank; what nodes say has it in front.
TEST_F(RemoteLaunch, WithTls) {
  fs::create_directory_symlink(fs::absolute("tools"), folder_.File("work/tools"));
  const auto make = OnHost(1, "tools/make_certificates tls run-17 3");
  ASSERT_EQ(make->Await(), 0) << make->output();
  const std::string flags =
      "-H node1,node2:2 --model=softmax --data=synthetic:train=512:test=200 --epochs=0.5 --out=run "
      "--log-level=info";
  const auto open = Train(flags);
  EXPECT_EQ(open->Await(), kUsage) << open->output();
  EXPECT_THAT(open->output(), AllOf(HasSubstr("node1 and node2: "), HasSubstr("--insecure")));
  const auto train = Train(flags +
                           " --overwrite --tls-ca=tls/ca.pem --tls-cert=tls/node-{rank}.pem "
                           "--tls-key=tls/node-{rank}.key --tls-identity=run-17");
  EXPECT_EQ(train->Await(), 0) << train->output();
  EXPECT_THAT(train->output(), HasSubstr("[2] "));
}

TEST_F(RemoteLaunch, AHostFileMayGivePortsAndMoreSlotsThanNodes) {
  folder_.Write("work/hosts", "node2:29700\nnode3 slots=2\nnode4\n");
  const auto train = Train("--hostfile=hosts -n 3 --log-level=info" + std::string(kSmall));
  EXPECT_EQ(train->Await(), 0) << train->output();
  EXPECT_FALSE(fs::exists(folder_.File("work/run/node-3")));
}

// Every host has a folder of its own under the same name.
TEST_F(RemoteLaunch, HostsNeedNotShareAFileSystem) {
  for (int host = 1; host <= 2; ++host) {
    const std::string own = "own" + std::to_string(host);
    fs::create_directories(folder_.File(own));
    const auto mount =
        OnHost(host, "mount --bind " + folder_.File(own) + " " + folder_.File("work"));
    ASSERT_EQ(mount->Await(), 0) << mount->output();
  }
  const auto train = Train("-H node1,node2" + std::string(kSmall));
  EXPECT_EQ(train->Await(), 0) << train->output();
  EXPECT_TRUE(fs::exists(folder_.File("own1/run/summary.json")));
  EXPECT_TRUE(fs::exists(folder_.File("own1/run/node-0/model.safetensors")));
  EXPECT_FALSE(fs::exists(folder_.File("own1/run/node-1")));
  EXPECT_TRUE(fs::exists(folder_.File("own2/run/node-1/model.safetensors")));

  const auto elsewhere = Train("-H node2,node1 --overwrite" + std::string(kSmall));
  EXPECT_EQ(elsewhere->Await(), kOutput);
  EXPECT_THAT(elsewhere->output(), HasSubstr("--out=run: node2, where rank 0 writes it, does not "
                                             "share it with this machine"));
}

TEST_F(RemoteLaunch, SaysAtOnceWhichHostsCannotBeUsedAndWhy) {
  const std::string other =
      folder_.Write("bin/other", "#!/bin/sh\necho 'grapevine-agent 0.0 (x)'\n");
  fs::permissions(other, fs::perms::owner_all);
  servers_->Stop(2);
  const auto train = Train("-H node1,node2,node3,node4 --remote-program=" + other + kSmall);
  EXPECT_EQ(train->Await(), kRendezvous);
  EXPECT_THAT(
      train->output(),
      AllOf(HasSubstr("node2: cannot be reached (exit code 255): ssh: connect to host node2 "
                      "port 22: Connection refused"),
            HasSubstr("node3 and node4: has Grapevine 0.0 (x), and this machine ")));
  const auto missing = Train("-H node1,node3 --remote-program=/nowhere/grapevine" +
                             std::string(kSmall) + "--overwrite");
  EXPECT_EQ(missing->Await(), kRendezvous);
  EXPECT_THAT(missing->output(),
              AllOf(HasSubstr("node3: cannot run Grapevine (exit code 127)"),
                    HasSubstr("/nowhere/grapevine"), HasSubstr("--remote-program=PATH")));
  ExpectNobodyIsLeft();
}

TEST_F(RemoteLaunch, AHostWithoutAFileIsNamedBeforeAnythingStarts) {
  fs::create_directories(folder_.File("models"));
  const auto local = OnHost(1,
                            "grapevine train -n 1 --model=softmax --rounds=1 "
                            "--data=synthetic:train=512:test=200 --out=../models/run");
  ASSERT_EQ(local->Await(), 0) << local->output();
  const auto hide = OnHost(3, "mount -t tmpfs none " + folder_.File("models"));
  ASSERT_EQ(hide->Await(), 0) << hide->output();
  const std::string flags = std::string(kSmall) + "--init-from=../models/run/model.safetensors ";
  const auto train = Train("-H node1,node2,node3" + flags);
  EXPECT_EQ(train->Await(), kInput);
  EXPECT_THAT(train->output(),
              HasSubstr("grapevine train: node3: cannot open ../models/run/model.safetensors"));
  EXPECT_THAT(train->output(), Not(HasSubstr("node2: ")));
  ExpectNobodyIsLeft();
  const auto dry = Train("-H node1,node2 --overwrite --dry-run" + flags);
  EXPECT_EQ(dry->Await(), 0) << dry->output();
  EXPECT_THAT(dry->output(), HasSubstr("2 hosts are ready; rank 0 runs on node1"));
}

// That of sshd, on every host.
TEST_F(RemoteLaunch, APortThatIsTakenThereIsNamedBeforeAnythingStarts) {
  const auto train = Train("-H node2,node3 --metrics-port=22" + std::string(kSmall));
  EXPECT_EQ(train->Await(), kRendezvous) << train->output();
  EXPECT_THAT(train->output(), AllOf(HasSubstr("node2 and node3: "), HasSubstr("127.0.0.1:22")));
}

TEST_F(RemoteLaunch, AnotherProcessTakesThePlaceOfAKilledOneOnItsHost) {
  const auto train = Train("-H node1,node2,node3 --max-restarts=1" + std::string(kEndless));
  ASSERT_TRUE(train->AwaitOutput("round ")) << train->output();
  const auto kill = OnHost(3, "pkill -KILL -f '^grapevine node' --ns $$ --nslist net");
  EXPECT_EQ(kill->Await(), 0) << kill->output();
  EXPECT_TRUE(train->AwaitOutput("rank 2 is started again (process ")) << train->output();
  EXPECT_TRUE(Eventually([&] { return NodesOn(3).find("--join") != std::string::npos; }));
  Signal("INT");
  EXPECT_EQ(train->Await(), 130) << train->output();
  ExpectNobodyIsLeft();
}

TEST_F(RemoteLaunch, CtrlCEndsAllOfThem) {
  const auto train = Train("-H node1,node2:2,node3" + std::string(kEndless));
  ASSERT_TRUE(train->AwaitOutput("round ")) << train->output();
  Signal("INT");
  EXPECT_EQ(train->Await(), 130) << train->output();
  ExpectNobodyIsLeft();
}

TEST_F(RemoteLaunch, NobodyOutlivesAKilledLauncher) {
  const auto train = Train("-H node1,node2,node3" + std::string(kEndless));
  ASSERT_TRUE(train->AwaitOutput("round ")) << train->output();
  Signal("KILL");
  EXPECT_EQ(train->Await(), 137);
  ExpectNobodyIsLeft();
}

TEST_F(RemoteLaunch, TheRestGoesOnWithoutAHostThatIsLost) {
  const auto train = Train(
      "-H node1,node2,node3:2 --peer-timeout=5s "
      "--min-peer-timeout=5s" +
      std::string(kEndless));
  ASSERT_TRUE(train->AwaitOutput("round ")) << train->output();
  // The cable of node3: neither ssh nor gRPC hears a word.
  const auto cut = OnHost(3, "ip link set eth0 down");
  EXPECT_EQ(cut->Await(), 0) << cut->output();
  EXPECT_TRUE(NobodyIsLeftOn(3)) << NodesOn(3);
  EXPECT_THAT(NodesOn(2), HasSubstr("node"));
  Signal("INT");
  EXPECT_EQ(train->Await(), 130) << train->output();
  ExpectNobodyIsLeft();
}

TEST_F(RemoteLaunch, AHostThatIsLostIsNamedWhereNobodyGoesOn) {
  const auto train = Train("-H node1,node2,node3:2 --on-failure=end" + std::string(kEndless));
  ASSERT_TRUE(train->AwaitOutput("round ")) << train->output();
  const auto cut = OnHost(3, "pkill -KILL -f '^sshd: root@notty' --ns $$ --nslist net");
  EXPECT_EQ(cut->Await(), 0) << cut->output();
  EXPECT_EQ(train->Await(), kPeerLost);
  EXPECT_THAT(train->output(), HasSubstr("ranks 2, 3 are lost with node3, which hung up"));
  ExpectNobodyIsLeft();
}

}  // namespace
}  // namespace grapevine::testing
