// The outgoing connection to one peer: dialled, tried again until the peer is
// there, watched, and ended in order.
//
// Thread-safe. Held by shared_ptr; a stream underway keeps it alive.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_EDGE_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_EDGE_H_

#include <grpcpp/channel.h>

#include <chrono>
#include <memory>
#include <string>

#include "node/transport/edge/dial_attempts.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/message_checksum.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/grpc/grpc_outgoing_stream.h"
#include "node/transport/grpc/grpc_queue.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "node/transport/grpc/stream_count.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcOutgoingEdge : public std::enable_shared_from_this<GrpcOutgoingEdge> {
 public:
  struct Context {
    EdgeIdentity self;
    GrpcTransportOptions options;
    std::shared_ptr<PeerLink> link;
    std::string address;
    std::shared_ptr<ChecksumsInFlight> checksums;
    std::shared_ptr<StreamCount> streams;
    std::shared_ptr<GrpcQueue> queue;
  };

  explicit GrpcOutgoingEdge(Context context);

  // Begins an attempt to connect.
  void Dial();
  // `tick` has passed: tries again, watches for silence.
  void Tick(std::chrono::milliseconds tick);
  // "rank 3 (10.0.0.4:29500: connection refused)" while it is trying; else empty.
  std::string Connecting();
  // Sends a heartbeat.
  void Beat();
  // Ends the stream at once.
  void Cancel();

 private:
  void NotConnected(std::chrono::milliseconds tick);
  std::shared_ptr<GrpcOutgoingStream> stream();

  const Context context_;
  const std::shared_ptr<grpc::Channel> channel_;
  DialAttempts attempts_;
  Mutex mutex_;
  std::shared_ptr<GrpcOutgoingStream> stream_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_EDGE_H_
