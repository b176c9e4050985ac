// What is wrong with a node's edges on purpose (--chaos), asked before it writes to a peer.
//
// A transport that has none asks nothing. Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_EDGE_FAULTS_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_EDGE_FAULTS_H_

#include "base/ids.h"

namespace grapevine {

class EdgeFaults {
 public:
  virtual ~EdgeFaults() = default;
  // The connection to `peer` breaks, and no other is made; asked at every tick of the transport.
  virtual bool Cuts(Rank peer) = 0;
  // Nothing is written to `peer`; asked again at the next tick.
  virtual bool Holds(Rank peer) = 0;
  // Once for each chunk: it is held until its packets would have been sent again, and all behind
  // it; and one of its bits is flipped.
  virtual bool Drops(Rank peer) = 0;
  virtual bool Corrupts(Rank peer) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_EDGE_FAULTS_H_
