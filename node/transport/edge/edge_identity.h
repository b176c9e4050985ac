// What two nodes must agree on before a byte of a vector passes between them.
//
// Plain values and pure functions.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/identity/authentication.h"
#include "node/transport/flow_control.h"

namespace grapevine {

// One of the calls with which a node's process connects to a peer.
struct EdgeCall {
  uint64_t process = 0;  // drawn once per process
  uint64_t number = 1;   // of its calls to this peer; later ones have greater numbers
};

struct EdgeIdentity {
  static constexpr uint32_t kProtocolVersion = 6;

  uint32_t protocol_version = kProtocolVersion;
  std::string run_id;
  Rank rank = 0;
  Rank world_size = 0;
  std::string schema;  // fingerprint of the replica's tensors
  std::string topology;
  std::string algorithm;
  Rank listener = 0;  // the rank to which this is said
  std::string proof;  // that the speaker has the run's token
  // The speaker's process, and which of the caller's calls this is.
  EdgeCall call;
  // From the answerer: where the caller's messages go on. Nobody vouches for it.
  ResumePoint resume;
};

// The two ends of a stream: the caller introduces itself first.
enum class EdgeEnd { kCaller, kAnswerer };

// Adds to `speaker` the listener and the proof for it. The proof holds for this run, this pair,
// this end and this call only: nobody who hears it can pose as another node with it, nor call
// again.
EdgeIdentity Proven(EdgeIdentity speaker, Rank listener, EdgeEnd end, const RunToken& token);
bool IsProven(const EdgeIdentity& speaker, EdgeEnd end, const RunToken& token);

// Whether `peer` speaks to `self` and belongs to the same run: FailedPrecondition (kRendezvous)
// names every field that differs with both values, and both ranks. About the run's id it says only
// that it differs: where there is no token, a caller that knows the id is authenticated.
absl::Status CheckSameRun(const EdgeIdentity& self, const EdgeIdentity& peer);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_
