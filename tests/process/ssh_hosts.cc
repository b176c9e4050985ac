#include "tests/process/ssh_hosts.h"

#include <filesystem>

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;

constexpr char kSshd[] = "/usr/sbin/sshd";

}  // namespace

void SshHosts::SetUp() {
  if (!fs::exists(kSshd)) GTEST_SKIP() << "openssh-server is missing: tools/install_packages";
  network_.emplace(folder_.path(), kHosts);
  if (!network_->up()) GTEST_SKIP() << "no network namespaces here: " << network_->output();
  fs::create_directories(folder_.File("bin"));
  fs::create_directories(folder_.File("work"));
  fs::create_symlink(fs::canonical("grapevine"), folder_.File("bin/grapevine"));
  MakeKeys();
  for (int host = 1; host <= kHosts; ++host) StartServer(host);
}

void SshHosts::MakeKeys() {
  GrapevineProcess keygen({"-euc", "mkdir -p /run/sshd; cd " + folder_.path() +
                                       "; ssh-keygen -q -t ed25519 -N '' -f host_key"
                                       "; ssh-keygen -q -t ed25519 -N '' -f user_key"},
                          {.program = "/bin/sh"});
  ASSERT_EQ(keygen.Await(), 0) << keygen.output();
  folder_.Write("sshd_config", "HostKey " + folder_.File("host_key") + "\nAuthorizedKeysFile " +
                                   folder_.File("user_key.pub") +
                                   "\nStrictModes no\nUsePAM no\nPidFile none\n");
  folder_.Write("ssh_config", "IdentityFile " + folder_.File("user_key") +
                                  "\nStrictHostKeyChecking no\nUserKnownHostsFile /dev/null\n"
                                  "LogLevel ERROR\n");
}

void SshHosts::StartServer(int host) {
  servers_.push_back(
      OnHost(host, std::string("exec ") + kSshd + " -D -e -f " + folder_.File("sshd_config")));
  ASSERT_TRUE(servers_.back()->AwaitOutput("Server listening on")) << servers_.back()->output();
}

std::unique_ptr<GrapevineProcess> SshHosts::OnHost(int host, const std::string& command,
                                                   std::map<std::string, std::string> variables) {
  variables["PATH"] = folder_.File("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin";
  variables["GRAPEVINE_REMOTE_SHELL"] = "ssh -F " + folder_.File("ssh_config");
  return std::make_unique<GrapevineProcess>(
      network_->On(host, "cd " + folder_.File("work") + "\n" + command),
      GrapevineProcess::Options{.program = VirtualHosts::kProgram, .environment = variables});
}

}  // namespace grapevine::testing
