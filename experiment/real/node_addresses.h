// Determines where a node listens and where it finds rank 0, from its identity and the flags for
// addresses, and which token it presents there.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_ADDRESSES_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_ADDRESSES_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "node/discovery/discovery.h"
#include "node/identity/host_address.h"
#include "node/identity/identity.h"
#include "run/config/config.pb.h"
#include "run/config/resolved_config.h"
#include "run/config/token_source.h"

namespace grapevine {

// Returns the place of --coordinator; nowhere in particular without the flag, or if the node is
// `launched` by a program that knows rank 0's address. kUsage if the flag contradicts --master-addr
// or --master-port.
absl::StatusOr<CoordinatorPlace> PlaceOfCoordinator(const Config& config, bool launched);

// Whether --hosts or --hostfile is given.
inline bool HasHosts(const Config& config) { return config.has_hosts() || config.has_hostfile(); }

// Returns the hosts of --hostfile or --hosts, by rank, with the flag that names them; absent if
// neither is given. Errors are kInput or kUsage.
absl::StatusOr<std::optional<Sourced<HostSlots>>> GivenHosts(const Config& config);

// Determines rank, world size and rank 0's address from the configuration and this process's
// environment (node/identity/identity.h), records them in the configuration with their origins, and
// sets `nodes` to the world size; kUsage if --nodes disagrees. For `alone`, see IdentityOptions.
absl::StatusOr<NodeIdentity> IdentifyNode(const CoordinatorPlace& place, ResolvedConfig* resolved,
                                          bool alone = false);

struct NodeAddresses {
  HostAddress coordinator;  // address of rank 0; no host if rank 0 announces itself
  HostAddress bind;
  HostAddress advertise;  // empty parts are those of the bound address
  // Where the node shows itself to observers (--metrics-port); absent if nowhere.
  std::optional<HostAddress> telemetry;
};

// Returns the addresses of a node. The node listens on loopback if rank 0 is known to be there,
// otherwise on every interface. It also listens where it is advertised, if that is another address
// of this machine: kUsage if --bind, or the place of rank 0, does not allow that. With `any_port`,
// rank 0, too, listens on a port that the system chooses (a launcher passes it on). The nodes of
// one machine share --metrics-port: each is at that port plus its local rank.
absl::StatusOr<NodeAddresses> AddressesOf(const Config& config, const NodeIdentity& identity,
                                          bool any_port);

// Returns lines of text: "rank 2 of 4 (RANK, WORLD_SIZE), local rank 0 (default)", and the
// addresses of this node and of rank 0. If rank 0 is to be looked for, the text names `place`,
// which is otherwise empty.
std::string NodeText(const NodeIdentity& identity, const NodeAddresses& addresses,
                     const std::string& place);

// Returns a line that says where this number of nodes of this machine, which are about to be
// started, can be observed; empty if nowhere. kUsage if --metrics-port is no [ADDR:]PORT, or is
// followed by too few ports; kRendezvous if one of the ports is taken on this machine and all nodes
// are to run there.
absl::StatusOr<std::string> TelemetryText(const Config& config, int nodes);

// Returns where rank 0 serves the run's page (--dashboard); absent if nowhere. kUsage if the flag
// is no [ADDR:]PORT.
absl::StatusOr<std::optional<HostAddress>> DashboardAddress(const Config& config);

// Returns the host at which others reach this node, as --advertise says; empty if it does not say.
std::string AdvertisedHost(const Config& config);

// Checks, for a dry run, that this node can show itself to observers there. kRendezvous if the port
// is taken.
absl::Status CheckTelemetry(const NodeAddresses& addresses);

// Returns the token from --token-file or this process's environment. Beyond loopback a node needs a
// token unless --insecure is given: kUsage names the address and the remedies. Other errors are
// those of FindToken.
absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodeAddresses& addresses);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_ADDRESSES_H_
