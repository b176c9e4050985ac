// The identities that two nodes show each other, and what they must agree on before a byte of a
// vector passes between them.
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
  uint64_t process = 0;  // number of the process, drawn once per process
  uint64_t number = 1;   // number of the call to this peer; later calls have greater numbers
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
  Rank listener = 0;  // the rank that is addressed
  std::string proof;  // proves that the speaker has the run's token
  // The speaker's process, and the number of the caller's call.
  EdgeCall call;
  // In an answer: the point at which the caller's messages go on. The proof does not cover it.
  ResumePoint resume;
};

// The two ends of a stream: the caller introduces itself first.
enum class EdgeEnd { kCaller, kAnswerer };

// Returns `speaker` with the listener and the proof for it. The proof holds only for this run, this
// pair of nodes, this end and this call: a listener that hears it can neither pose as another node
// with it, nor call again.
EdgeIdentity Proven(EdgeIdentity speaker, Rank listener, EdgeEnd end, const RunToken& token);
// Whether the proof of `speaker` holds for `end`.
bool IsProven(const EdgeIdentity& speaker, EdgeEnd end, const RunToken& token);

// Checks that `peer` speaks to `self` and belongs to the same run. Returns FailedPrecondition
// (kRendezvous) that names every field that differs with both values, and both ranks. Of differing
// run ids the error says only that they differ: without a token, a caller that knows the run's id
// is authenticated.
absl::Status CheckSameRun(const EdgeIdentity& self, const EdgeIdentity& peer);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_IDENTITY_H_
