#include "tests/process/ssh_hosts.h"

#include <filesystem>

namespace grapevine::testing {
namespace fs = std::filesystem;

void SshHosts::SetUp() {
  if (!SshServers::Installed())
    GTEST_SKIP() << "openssh-server is missing: tools/install_packages test_packages.txt";
  network_.emplace(folder_.path(), kHosts);
  if (!network_->up()) GTEST_SKIP() << "network namespaces are missing: " << network_->output();
  fs::create_directories(folder_.File("bin"));
  fs::create_directories(folder_.File("work"));
  fs::create_symlink(fs::canonical("grapevine"), folder_.File("bin/grapevine"));
  servers_.emplace(*network_, kHosts, folder_.path());
}

std::unique_ptr<GrapevineProcess> SshHosts::OnHost(int host, const std::string& command,
                                                   std::map<std::string, std::string> variables) {
  variables["PATH"] = folder_.File("bin") + ":/usr/sbin:/usr/bin:/sbin:/bin";
  variables["GRAPEVINE_REMOTE_SHELL"] = servers_->Shell();
  return std::make_unique<GrapevineProcess>(
      network_->On(host, "cd " + folder_.File("work") + "\n" + command),
      GrapevineProcess::Options{.program = VirtualHosts::kProgram, .environment = variables});
}

}  // namespace grapevine::testing
