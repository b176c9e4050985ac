// A CoordinatorProbe over gRPC.
#ifndef GRAPEVINE_NODE_DISCOVERY_GRPC_COORDINATOR_PROBE_H_
#define GRAPEVINE_NODE_DISCOVERY_GRPC_COORDINATOR_PROBE_H_

#include "node/discovery/coordinator_probe.h"
#include "node/server/grpc_credentials.h"

namespace grapevine {

// Asks where the credentials allow it; `loopback_only`: nowhere else than on this machine. At most
// kMostProbes addresses at once.
inline constexpr size_t kMostProbes = 64;
CoordinatorProbe GrpcCoordinatorProbe(GrpcCredentials credentials, bool loopback_only);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_GRPC_COORDINATOR_PROBE_H_
