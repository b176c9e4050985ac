// Where a node listens and where it finds rank 0, from its identity and the flags for addresses;
// and the token that it presents there.
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

// --coordinator, or nowhere in particular if there is none, or `launched` by a program that knows
// rank 0's address. kUsage if it contradicts --master-addr or --master-port.
absl::StatusOr<CoordinatorPlace> PlaceOfCoordinator(const Config& config, bool launched);

// Whether there is --hosts or --hostfile.
inline bool HasHosts(const Config& config) { return config.has_hosts() || config.has_hostfile(); }

// The hosts of --hostfile or --hosts, by rank, with the flag that names them; none if neither is
// given. kInput or kUsage.
absl::StatusOr<std::optional<Sourced<HostSlots>>> GivenHosts(const Config& config);

// Determines rank, world size and rank 0's address from the configuration and this process's
// environment (node/identity/identity.h), records them in the configuration with their origins,
// and sets `nodes` to the world size; kUsage if --nodes disagrees. `alone`: as IdentityOptions'.
absl::StatusOr<NodeIdentity> IdentifyNode(const CoordinatorPlace& place, ResolvedConfig* resolved,
                                          bool alone = false);

struct NodeAddresses {
  HostAddress coordinator;  // rank 0; no host if it announces itself
  HostAddress bind;
  HostAddress advertise;  // empty parts: as bound
  // Where it shows itself to whoever watches (--metrics-port); none: nowhere.
  std::optional<HostAddress> telemetry;
};

// To listen on loopback if rank 0 is known to be there, else on every interface; and where the
// node is advertised, if that is another address of this machine: kUsage where --bind, or the place
// of rank 0, does not let it. `any_port` lets rank 0, too, listen on a port that the system chooses
// (a launcher passes it on). The nodes of one machine share --metrics-port: each is at that port
// plus its local rank.
absl::StatusOr<NodeAddresses> AddressesOf(const Config& config, const NodeIdentity& identity,
                                          bool any_port);

// "rank 2 of 4 (RANK, WORLD_SIZE), local rank 0 (default)", and the addresses of this node and of
// rank 0 (`place` where it is to be looked for), as lines.
std::string NodeText(const NodeIdentity& identity, const NodeAddresses& addresses,
                     const std::string& place);

// Where so many nodes of this machine, which are about to be started, can be watched, as a line;
// empty if nowhere. kUsage where --metrics-port is no [ADDR:]PORT, or has not as many ports behind
// it; kRendezvous where one of them is taken on this machine, if they are all to be there.
absl::StatusOr<std::string> TelemetryText(const Config& config, int nodes);

// Where rank 0 serves the run's page (--dashboard); none: nowhere. kUsage where it is no
// [ADDR:]PORT.
absl::StatusOr<std::optional<HostAddress>> DashboardAddress(const Config& config);

// The host at which others reach this node, as --advertise says; empty if it does not.
std::string AdvertisedHost(const Config& config);

// Whether this node can show itself there, for a dry run. kRendezvous if the port is taken.
absl::Status CheckTelemetry(const NodeAddresses& addresses);

// From --token-file or this process's environment. Beyond loopback a node needs one unless
// --insecure is given: kUsage names the address and the remedies. Errors as FindToken's.
absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodeAddresses& addresses);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_ADDRESSES_H_
