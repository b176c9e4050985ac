// Virtual hosts with sshd on each, for tests of what starts programs on other hosts.
#ifndef GRAPEVINE_TESTS_PROCESS_SSH_HOSTS_H_
#define GRAPEVINE_TESTS_PROCESS_SSH_HOSTS_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/ssh_servers.h"
#include "tests/process/virtual_hosts.h"

namespace grapevine::testing {

// Tests are skipped where there is no sshd, or there are no network namespaces. `grapevine` is in
// the PATH of every host, and they share a folder, "work".
class SshHosts : public ::testing::Test {
 protected:
  static constexpr int kHosts = 4;

  void SetUp() override;

  // A shell's command there, in "work"; --remote-shell is an ssh that knows the keys.
  std::unique_ptr<GrapevineProcess> OnHost(int host, const std::string& command,
                                           std::map<std::string, std::string> variables = {});

  const ScratchFolder folder_;
  std::optional<VirtualHosts> network_;
  std::optional<SshServers> servers_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_SSH_HOSTS_H_
