// What two nodes must agree on before a byte of a vector passes between them.
//
// Plain values and pure functions.
#ifndef GRAPEVINE_NODE_EDGE_IDENTITY_H_
#define GRAPEVINE_NODE_EDGE_IDENTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "topology/topology.h"

namespace grapevine {

struct EdgeIdentity {
  static constexpr uint32_t kProtocolVersion = 1;

  uint32_t protocol_version = kProtocolVersion;
  std::string run_id;
  Rank rank = 0;
  Rank world_size = 0;
  std::string schema;  // fingerprint of the replica's tensors
  std::string topology;
  std::string algorithm;
};

// Whether `peer` belongs to the same run as `self`: FailedPrecondition (kRendezvous)
// names every field that differs with both values, and both ranks.
absl::Status CheckSameRun(const EdgeIdentity& self, const EdgeIdentity& peer);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_EDGE_IDENTITY_H_
