#include "tests/process/ssh_servers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace grapevine::testing {
namespace {

constexpr char kSshd[] = "/usr/sbin/sshd";

void MakeKeys(const std::string& folder) {
  GrapevineProcess keygen({"-euc", "mkdir -p /run/sshd; cd " + folder +
                                       "; ssh-keygen -q -t ed25519 -N '' -f host_key"
                                       "; ssh-keygen -q -t ed25519 -N '' -f user_key"},
                          {.program = "/bin/sh"});
  ASSERT_EQ(keygen.Await(), 0) << keygen.output();
  std::ofstream(folder + "/sshd_config")
      << "HostKey " << folder << "/host_key\nAuthorizedKeysFile " << folder
      << "/user_key.pub\nStrictModes no\nUsePAM no\nPidFile none\nSetEnv PATH=" << folder
      << "/bin:/usr/local/bin:/usr/bin:/bin\n";
  std::ofstream(folder + "/ssh_config")
      << "IdentityFile " << folder
      << "/user_key\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n";
}

}  // namespace

bool SshServers::Installed() { return std::filesystem::exists(kSshd); }

SshServers::SshServers(const VirtualHosts& hosts, int count, const std::string& folder)
    : folder_(folder) {
  MakeKeys(folder);
  for (int host = 1; host <= count; ++host) {
    servers_.push_back(std::make_unique<GrapevineProcess>(
        hosts.On(host, std::string("exec ") + kSshd + " -D -e -f " + folder + "/sshd_config"),
        GrapevineProcess::Options{.program = VirtualHosts::kProgram}));
    EXPECT_TRUE(servers_.back()->AwaitOutput("Server listening on")) << servers_.back()->output();
  }
}

std::string SshServers::Shell() const { return "ssh -F " + folder_ + "/ssh_config"; }

}  // namespace grapevine::testing
