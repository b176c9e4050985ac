// `grapevine doctor` on virtual hosts, over the system's own ssh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/process/documentation.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/ssh_hosts.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kAll[] = "-H node1,node2,node3,node4 --measure-time=200ms ";

class Doctor : public SshHosts {
 protected:
  std::unique_ptr<GrapevineProcess> Examine(const std::string& flags) {
    return OnHost(1, "exec grapevine doctor " + flags);
  }
  // What it says of them, as JSON.
  Json Examined(const std::string& flags, int code) {
    const auto doctor = Examine(flags + " --json > findings.json");
    EXPECT_EQ(doctor->Await(), code) << doctor->output();
    return JsonOf(FileText(folder_.File("work/findings.json")));
  }

  // Of one check, as "failed node3: ..." lines.
  static std::string Of(const std::string& check, const Json& examined) {
    std::string text;
    for (const Json& finding : examined["findings"]) {
      if (finding["check"] != check) continue;
      text += finding["verdict"].get<std::string>() + " " + finding["who"].get<std::string>() +
              ": " + finding["found"].get<std::string>() + "\n";
    }
    return text;
  }
  static double Rate(const Json& examined, const std::string& from, const std::string& to) {
    for (const Json& edge : examined["edges"]) {
      if (edge["from"] == from && edge["to"] == to && edge["bits_per_second"].is_number()) {
        return edge["bits_per_second"].get<double>();
      }
    }
    ADD_FAILURE() << "nothing measured from " << from << " to " << to;
    return 0;
  }
};

TEST_F(Doctor, AsThePageSays) {
  const auto blocks = Blocks("docs/cluster.md", "## Before a run: `grapevine doctor`", "sh");
  ASSERT_EQ(blocks.size(), 1u);
  const auto commands = Commands(blocks.front());
  ASSERT_EQ(commands.size(), 1u);
  const auto doctor = OnHost(1, commands.front().command);
  EXPECT_EQ(doctor->Await(), 0) << doctor->output();
  EXPECT_THAT(doctor->output(), HasSubstr("24 connections between all hosts"));
  EXPECT_TRUE(fs::exists(folder_.File("work/lab.textproto")));
}

TEST_F(Doctor, HostsThatAreWellAndTheirNetworkForTheSimulator) {
  const auto text = Examine(std::string(kAll) + "--network-out=net.textproto --model=phantom:1MB");
  EXPECT_EQ(text->Await(), 0) << text->output();
  EXPECT_THAT(text->output(),
              AllOf(HasSubstr("12 connections between all hosts"), HasSubstr("MTU 1500"),
                    HasSubstr("node4  node3"), Not(HasSubstr("failed")),
                    HasSubstr("grapevine sim -n 4 --network=file:net.textproto\n")));
  const auto sim = OnHost(1,
                          "grapevine sim -n 4 --network=file:net.textproto --model=phantom:1MB "
                          "--compute=1ms --rounds=3");
  EXPECT_EQ(sim->Await(), 0) << sim->output();
  EXPECT_THAT(sim->output(), HasSubstr("net.textproto"));
}

TEST_F(Doctor, SeveralRanksOnAHostAndAGraph) {
  const auto doctor = Examine(
      "-H node1:2,node2:2,node3:2,node4:2 --topology=ring --measure-time=200ms "
      "--network-out=net.textproto");
  EXPECT_EQ(doctor->Await(), 0) << doctor->output();
  // From each host to the next and back, and within each.
  EXPECT_THAT(doctor->output(), AllOf(HasSubstr("24 connections"), HasSubstr("node4  node4"),
                                      HasSubstr(" --placement=order:per-host=2\n")));
  EXPECT_THAT(FileText(folder_.File("work/net.textproto")),
              AllOf(HasSubstr("loopback:"), HasSubstr("\"node1:out\""),
                    Not(HasSubstr("a: \"node1:out\"\n  b: \"node3:in\""))));
  const auto sim = OnHost(1,
                          "grapevine sim -n 8 --network=file:net.textproto "
                          "--placement=order:per-host=2 --model=phantom:1MB --compute=1ms "
                          "--rounds=3");
  EXPECT_EQ(sim->Await(), 0) << sim->output();
}

TEST_F(Doctor, WhatIsWrongIsNamedWithTheHost) {
  // node3 takes node4 for node2; node2 has no way to node4; node4 has an interface of its own kind.
  for (const std::string& command :
       {std::string("3 sed 's/^10.0.0.2 /10.0.0.4 /' /etc/hosts > ../wrong\n"
                    "mount --bind ../wrong /etc/hosts"),
        std::string("2 ip route add unreachable 10.0.0.4/32"),
        std::string("4 ip link set eth0 mtu 1300")}) {
    const auto break_it = OnHost(command[0] - '0', command.substr(2));
    ASSERT_EQ(break_it->Await(), 0) << break_it->output();
  }
  const Json examined = Examined(kAll, kRendezvous);
  EXPECT_EQ(examined["verdict"], "failed");
  EXPECT_EQ(Of("names", examined), "failed node3: finds node2 at 10.0.0.4, which is node4's\n");
  EXPECT_THAT(Of("ports", examined),
              AllOf(HasSubstr("failed node2: cannot reach node4:"), HasSubstr("No route to host"),
                    // Where nobody listens on node2's port, or a node of node4 does.
                    HasSubstr("failed node3: "), HasSubstr(" node2:"), Not(HasSubstr("node1"))));
  EXPECT_THAT(Of("packets", examined),
              HasSubstr("warning node4: eth0 has MTU 1300, and that of node1 1500"));
  EXPECT_THAT(Of("hosts", examined), HasSubstr("ok all 4 hosts"));
}

TEST_F(Doctor, AHostThatCannotBeAskedKeepsNobodyElseFromIt) {
  const std::string other =
      folder_.Write("bin/other", "#!/bin/sh\necho 'grapevine-agent 0.0 (x)'\n");
  fs::permissions(other, fs::perms::owner_all);
  servers_->Stop(2);
  const Json examined =
      Examined("-H node1,node2,node3 --measure-time=0s --remote-program=" + other, kRendezvous);
  EXPECT_THAT(Of("hosts", examined),
              AllOf(HasSubstr("failed node2: cannot be reached (exit code 255)"),
                    HasSubstr("failed node3: has Grapevine 0.0 (x)")));
  EXPECT_TRUE(examined["hosts"][0]["answers"].get<bool>());
  EXPECT_FALSE(examined["hosts"][1]["answers"].get<bool>());
}

TEST_F(Doctor, ASlowLinkIsMeasured) {
  const auto slow = OnHost(2, "tc qdisc add dev eth0 root tbf rate 8mbit burst 10000 limit 100000");
  ASSERT_EQ(slow->Await(), 0) << slow->output();
  const Json examined = Examined("-H node1,node2,node3 --measure-time=1s", 0);
  for (const char* to : {"node1", "node3"}) {
    EXPECT_GT(Rate(examined, "node2", to), 4e6);
    EXPECT_LT(Rate(examined, "node2", to), 16e6);
  }
  EXPECT_GT(Rate(examined, "node1", "node3"), 32e6);
  EXPECT_THAT(Of("edges", examined), HasSubstr("warning node2: sends "));
}

TEST_F(Doctor, CertificatesAndThoseOfAnotherRun) {
  fs::create_directory_symlink(fs::absolute("tools"), folder_.File("work/tools"));
  const auto make = OnHost(1,
                           "tools/make_certificates tls run-17 2 && tools/make_certificates "
                           "other run-17 2 && cp tls/node-0.pem tls/node-0.key other");
  ASSERT_EQ(make->Await(), 0) << make->output();
  const auto flags = [](const std::string& folder, const std::string& run) {
    return "-H node1,node2 --measure-time=0s --tls-ca=" + folder + "/ca.pem --tls-cert=" + folder +
           "/node-{rank}.pem --tls-key=" + folder + "/node-{rank}.key --tls-identity=" + run;
  };
  EXPECT_THAT(Of("certificates", Examined(flags("tls", "run-17"), 0)), HasSubstr("ok all 2 hosts"));
  EXPECT_THAT(Of("certificates", Examined(flags("tls", "run-18"), kRendezvous)),
              AllOf(HasSubstr("failed node1: "), HasSubstr("rank-0.run-18")));
  EXPECT_THAT(
      Of("certificates", Examined(flags("other", "run-17"), kRendezvous)),
      AllOf(HasSubstr("failed node1: "), HasSubstr("is not signed by"), Not(HasSubstr("node2"))));
}

TEST_F(Doctor, CtrlCEndsIt) {
  const auto doctor =
      OnHost(1, "echo $$ > ../doctor; exec grapevine doctor --measure-time=30s -H node1,node2");
  ASSERT_TRUE(Eventually([&] { return fs::exists(folder_.File("doctor")); }));
  const auto interrupt = OnHost(1, "read -r pid < ../doctor; kill -INT $pid");
  ASSERT_EQ(interrupt->Await(), 0) << interrupt->output();
  EXPECT_EQ(doctor->Await(), 130) << doctor->output();
}

TEST(DoctorAlone, LooksAtThisMachine) {
  GrapevineProcess doctor({"doctor", "-n", "1", "--measure-time=100ms", "--model=phantom:1MB"});
  EXPECT_EQ(doctor.Await(), 0) << doctor.output();
  EXPECT_THAT(doctor.output(), AllOf(HasSubstr("nodes can listen here, and are reached"),
                                     HasSubstr("localhost"), HasSubstr("the vectors of a node")));
}

TEST(DoctorAlone, AModelThatDoesNotFitIsRefused) {
  GrapevineProcess doctor({"doctor", "-n", "2", "--measure-time=0s", "--model=phantom:900TB"});
  EXPECT_EQ(doctor.Await(), kRendezvous) << doctor.output();
  EXPECT_THAT(doctor.output(), AllOf(HasSubstr("memory"), HasSubstr("failed"),
                                     HasSubstr("grapevine doctor: a run would fail: 1 finding")));
}

TEST(DoctorAlone, WrongFlags) {
  const auto refused = [](const std::string& flag, const std::string& why) {
    GrapevineProcess doctor({"doctor", flag});
    EXPECT_EQ(doctor.Await(), kUsage) << doctor.output();
    EXPECT_THAT(doctor.output(), AllOf(HasSubstr("grapevine doctor: "), HasSubstr(why)));
  };
  refused("--measure-time=31s", "--measure-time=31s: must be whole milliseconds, at most 30s");
  refused("--measure-time=-1s", "it is negative");
  refused("--measure-time=fast", "--measure-time=fast: ");
  refused("--network-out=-", "name a file");
  refused("--topology=blob", "--topology=blob: unknown topology");
  refused("--hosts=node1:0", "neither a port nor slots may be 0");
  refused("--hosts=127.0.0.1,node2", "name this machine as the others reach it");
  refused("--tls-ca=ca.pem", "give all three");
  refused("--rounds=3", "unknown flag --rounds");
  GrapevineProcess nothing({"doctor", "--measure-time=0s", "--network-out=net.textproto"});
  EXPECT_EQ(nothing.Await(), kUsage);
  EXPECT_THAT(nothing.output(), HasSubstr("--network-out has nothing to write"));
}

TEST(DoctorAlone, HelpSaysWhatItWrites) {
  GrapevineProcess help({"doctor", "--help"});
  EXPECT_EQ(help.Await(), 0);
  EXPECT_THAT(help.output(), AllOf(HasSubstr("--network-out"), HasSubstr("--hostfile"),
                                   HasSubstr("--measure-time"), HasSubstr("exit code 5")));
}

}  // namespace
}  // namespace grapevine::testing
