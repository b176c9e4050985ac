// The way from a transport's threads to its sink, which Shutdown closes.
//
// Calls are serialized; PeerFailed passes once a peer. After Close has returned
// nothing passes. Thread-safe. Held by shared_ptr, because memory on its way
// out reports through it and may outlive the transport.
#ifndef GRAPEVINE_NODE_TRANSPORT_SINK_GATE_H_
#define GRAPEVINE_NODE_TRANSPORT_SINK_GATE_H_

#include <memory>
#include <set>

#include "absl/status/status.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

class SinkGate {
 public:
  explicit SinkGate(TransportSink* sink) : sink_(sink) {}

  void Received(const grapevine::Received& message);
  void Sent(Rank to, Tag tag);
  void PeerFailed(Rank peer, const absl::Status& why);
  void Close();

 private:
  Mutex mutex_;
  TransportSink* sink_ ABSL_GUARDED_BY(mutex_);
  std::set<Rank> failed_ ABSL_GUARDED_BY(mutex_);
};

// `bytes`, whose last reference reports OnSent through `gate` when it goes, after
// it has let go of `held`.
SharedBytes ReportWhenReleased(SharedBytes bytes, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                               std::shared_ptr<void> held = nullptr);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_SINK_GATE_H_
