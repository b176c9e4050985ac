// An ssh server on each of some virtual hosts, and keys that exist for one test.
#ifndef GRAPEVINE_TESTS_PROCESS_SSH_SERVERS_H_
#define GRAPEVINE_TESTS_PROCESS_SSH_SERVERS_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/process/grapevine_process.h"
#include "tests/process/virtual_hosts.h"

namespace grapevine::testing {

// Thread-compatible. The servers end with it, and it before the hosts.
class SshServers {
 public:
  static bool Installed();

  // Starts a server on each of the hosts 1 to `count`; a failure fails the test. `folder` is for
  // its files; what is in its "bin" can be started by its name there.
  SshServers(const VirtualHosts& hosts, int count, const std::string& folder);

  // What starts a program on a host by its name, without a password: "ssh -F ...".
  std::string Shell() const;
  // From then on nobody reaches this host.
  void Stop(int host) { servers_[host - 1].reset(); }

 private:
  std::string folder_;
  std::vector<std::unique_ptr<GrapevineProcess>> servers_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_SSH_SERVERS_H_
