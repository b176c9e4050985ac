// Hosts with their own names and addresses on one machine: network namespaces on a switch, for
// tests that need several machines.
//
// Host i, from 1, is called "node<i>" and has the addresses 10.0.0.<i> and fd00::<i>. Its own
// name resolves to 127.0.1.1 there, as on Debian. The hosts share the file system. Everything is
// in namespaces that die with the test, however it ends; the networks of several tests do not see
// each other.
#ifndef GRAPEVINE_TESTS_PROCESS_VIRTUAL_HOSTS_H_
#define GRAPEVINE_TESTS_PROCESS_VIRTUAL_HOSTS_H_

#include <string>
#include <vector>

#include "tests/process/grapevine_process.h"

namespace grapevine::testing {

// Thread-compatible. Processes on its hosts must have ended before it does.
class VirtualHosts {
 public:
  // `folder` is for its files.
  VirtualHosts(const std::string& folder, int hosts);

  // Whether they could be set up, which takes root and iproute2; if not, output() says why.
  bool up() const { return !holders_.empty(); }
  std::string output() { return world_.output(); }

  // The program (GrapevineProcess::Options) and its arguments that run a shell
  // command on a host.
  static constexpr char kProgram[] = "/usr/bin/nsenter";
  std::vector<std::string> On(int host, const std::string& command) const;

 private:
  GrapevineProcess world_;
  std::vector<pid_t> holders_;  // a process in the namespaces of each host
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_VIRTUAL_HOSTS_H_
