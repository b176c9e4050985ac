#include "tests/process/virtual_hosts.h"

#include <fstream>

namespace grapevine::testing {
namespace {

constexpr char kScript[] = "tests/process/virtual_hosts.sh";

std::vector<pid_t> Children(pid_t process) {
  const std::string id = std::to_string(process);
  std::ifstream file("/proc/" + id + "/task/" + id + "/children");
  std::vector<pid_t> children;
  for (pid_t child; file >> child;) children.push_back(child);
  return children;
}

}  // namespace

// The kernel kills `unshare` when the test dies, then the script, which is the
// first process of its namespaces, and so everything in them.
VirtualHosts::VirtualHosts(const std::string& folder, int hosts)
    : world_({"--pdeathsig=KILL", "unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
              "--mount-proc", "sh", kScript, folder, std::to_string(hosts)},
             {.program = "/usr/bin/setpriv"}) {
  if (!world_.AwaitOutput("the network is up\n")) return;
  for (const pid_t script : Children(world_.pid())) holders_ = Children(script);
}

std::vector<std::string> VirtualHosts::On(int host, const std::string& command) const {
  return {"--target=" + std::to_string(holders_.at(static_cast<size_t>(host) - 1)),
          "--net",
          "--mount",
          "--pid",
          "--uts",
          "sh",
          "-euc",
          command};
}

}  // namespace grapevine::testing
