// The discovery that --coordinator names, and the probe that it asks with, over gRPC.
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

// Asks where the credentials allow it; `loopback_only`: nowhere else than on this machine. At most
// kMostProbes addresses at once.
inline constexpr size_t kMostProbes = 64;
CoordinatorProbe GrpcCoordinatorProbe(GrpcCredentials credentials, bool loopback_only);

struct DiscoveryOptions {
  GrpcCredentials credentials;  // for rank 0
  GrpcCredentials etcd;         // for etcd
  RunToken token;
  std::chrono::milliseconds peer_timeout{30000};
  // Rank 0 is looked for on this machine alone.
  bool loopback_only = false;
  // Another node may take over rank 0's role.
  bool role_moves = false;
};

// Null where rank 0's address is known. Nobody is asked yet; kUsage where the credentials do not
// allow to ask.
absl::StatusOr<std::shared_ptr<Discovery>> MakeDiscovery(const CoordinatorPlace& place,
                                                         const DiscoveryOptions& options);
// Of a run whose launcher says where rank 0 is: only its role is kept in this folder.
std::shared_ptr<Discovery> KeepRoleIn(const std::string& folder, const DiscoveryOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_
