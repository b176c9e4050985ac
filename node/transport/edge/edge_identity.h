// What two nodes must agree on before a byte of a vector passes between them.
//
// Plain values and pure functions.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/identity/run_token.h"

namespace grapevine {

struct EdgeIdentity {
  static constexpr uint32_t kProtocolVersion = 2;

  uint32_t protocol_version = kProtocolVersion;
  std::string run_id;
  Rank rank = 0;
  Rank world_size = 0;
  std::string schema;  // fingerprint of the replica's tensors
  std::string topology;
  std::string algorithm;
  Rank listener = 0;  // to whom this is said
  std::string proof;  // that the speaker has the run's token
};

// The two ends of a stream: who dialled introduces itself first.
enum class EdgeEnd { kCaller, kAnswerer };

// Adds to `speaker` the listener and the proof for it. It holds for this run, this
// pair and this end only: who hears it can pose as nobody to others with it.
EdgeIdentity Proven(EdgeIdentity speaker, Rank listener, EdgeEnd end, const RunToken& token);
bool IsProven(const EdgeIdentity& speaker, EdgeEnd end, const RunToken& token);

// Whether `peer` speaks to `self` and belongs to the same run: FailedPrecondition
// (kRendezvous) names every field that differs with both values, and both ranks. Of a run's id
// it says only that it differs: who knows it is believed where there is no token.
absl::Status CheckSameRun(const EdgeIdentity& self, const EdgeIdentity& peer);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_
