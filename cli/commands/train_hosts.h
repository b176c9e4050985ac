// The hosts on which `grapevine train` starts its nodes, if it is given some.
#ifndef GRAPEVINE_CLI_COMMANDS_TRAIN_HOSTS_H_
#define GRAPEVINE_CLI_COMMANDS_TRAIN_HOSTS_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/launch/remote_hosts.h"
#include "run/config/config.pb.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// Makes --nodes and the hosts agree: as many nodes as the hosts have slots, or as many as are
// wanted in the first slots. kUsage if the hosts have fewer slots, or if no hosts are given, but a
// flag that says something only of several hosts is.
absl::Status SettleHosts(ResolvedConfig* resolved);

// Returns the secret of a run: the one that is given, or a new one.
absl::StatusOr<std::string> TokenForNodes(const Config& config);

// Connects to the hosts, and checks that nodes of this experiment could begin there. `arguments`
// and `environment` are those of a node; `run` is the run directory, `run_lock` the text of its
// lock; an empty `run` makes a dry run, for which no such folder is needed. kRendezvous, or what
// the check found.
absl::StatusOr<std::unique_ptr<RemoteHosts>> ConnectHosts(
    const Config& config, const std::string& run, const std::string& run_lock,
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_TRAIN_HOSTS_H_
