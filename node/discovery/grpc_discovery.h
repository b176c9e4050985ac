// Makes the discovery that --coordinator names, and the probe over gRPC with which it asks.
#ifndef GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_

#include <chrono>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "node/discovery/discovery.h"
#include "node/identity/authentication.h"
#include "node/server/grpc_credentials.h"

namespace grapevine {

// The largest number of addresses that a probe asks at once.
inline constexpr size_t kMostProbes = 64;
// Returns a probe that asks only at addresses at which `credentials` allow it; if `loopback_only`,
// only on this machine.
CoordinatorProbe GrpcCoordinatorProbe(GrpcCredentials credentials, bool loopback_only);

struct DiscoveryOptions {
  GrpcCredentials credentials;  // for rank 0
  GrpcCredentials etcd;         // for etcd
  RunToken token;
  std::chrono::milliseconds peer_timeout{30000};
  // Whether rank 0 is looked for on this machine only.
  bool loopback_only = false;
  // Whether another node may take over rank 0's role.
  bool role_moves = false;
};

// Makes the discovery for `place`; null if `place` is rank 0's address. Asks no node yet. Returns
// kUsage if the credentials do not allow to ask.
absl::StatusOr<std::shared_ptr<Discovery>> MakeDiscovery(const CoordinatorPlace& place,
                                                         const DiscoveryOptions& options);
// Makes the discovery of a run whose launcher tells the nodes where rank 0 is: only rank 0's role
// is kept in `folder`.
std::shared_ptr<Discovery> KeepRoleIn(const std::string& folder, const DiscoveryOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_
