// The links of one node to all its peers, made when they are first needed.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINKS_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINKS_H_

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "node/transport/credit_desk.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/sink_gate.h"
#include "system/mutex.h"

namespace grapevine {

class PeerLinks {
 public:
  // Among `world_size` ranks. `chunk_bytes`: the most one chunk carries. `desk`: where
  // credits in turn wait, by a clock of its own.
  PeerLinks(Rank self, Rank world_size, int64_t chunk_bytes, std::shared_ptr<SinkGate> gate,
            std::shared_ptr<CreditDesk> desk = std::make_shared<CreditDesk>())
      : self_(self),
        world_size_(world_size),
        chunk_bytes_(chunk_bytes),
        gate_(std::move(gate)),
        desk_(std::move(desk)) {}

  // InvalidArgument for a rank that is no peer of this node.
  absl::StatusOr<std::shared_ptr<PeerLink>> To(Rank peer);
  std::vector<std::shared_ptr<PeerLink>> All();
  // Over all peers.
  TransportCounters counters();

 private:
  const Rank self_;
  const Rank world_size_;
  const int64_t chunk_bytes_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<CreditDesk> desk_;
  Mutex mutex_;
  std::map<Rank, std::shared_ptr<PeerLink>> links_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_PEER_LINKS_H_
