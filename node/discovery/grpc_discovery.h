// The discovery that --coordinator names, over gRPC.
#ifndef GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_

#include <chrono>
#include <memory>

#include "absl/status/statusor.h"
#include "node/discovery/coordinator_place.h"
#include "node/discovery/discovery.h"
#include "node/identity/run_token.h"
#include "node/server/grpc_credentials.h"

namespace grapevine {

struct DiscoveryOptions {
  GrpcCredentials credentials;  // for rank 0, and for etcd
  RunToken token;
  std::chrono::milliseconds peer_timeout{30000};
  // Rank 0 is looked for on this machine alone.
  bool loopback_only = false;
};

// Null where rank 0's address is known. Nobody is asked yet; kUsage where the credentials do not
// allow to ask.
absl::StatusOr<std::shared_ptr<Discovery>> MakeDiscovery(const CoordinatorPlace& place,
                                                         const DiscoveryOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_GRPC_DISCOVERY_H_
