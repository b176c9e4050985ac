// A stream on which somebody sends to this node: the server's end of
// Gossip.Exchange.
//
// Until its Hello has been admitted it is a stranger's, bounded in what it may
// send and for how long; then it belongs to a peer's link, announces credits
// and copies chunks to where they were posted.
//
// Thread-safe. gRPC keeps it alive until the stream is over.
#ifndef GRAPEVINE_NODE_GRPC_INCOMING_STREAM_H_
#define GRAPEVINE_NODE_GRPC_INCOMING_STREAM_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "node/edge_identity.h"
#include "node/grpc_transport_options.h"
#include "node/peer_link.h"
#include "node/silence_watch.h"
#include "node/wire_format.h"
#include "node/write_loop.h"
#include "system/mutex.h"

namespace grapevine {

class GrpcIncomingStream;

// Who decides about strangers.
class GrpcDoorkeeper {
 public:
  virtual ~GrpcDoorkeeper() = default;
  // Admits the stream or turns it away, now or later.
  virtual void Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) = 0;
  // Turns a stranger away; `why` fits behind "stranger ".
  virtual void TurnAway(GrpcIncomingStream& stream, const absl::Status& why) = 0;
  // The stream is over.
  virtual void Gone(GrpcIncomingStream* stream) = 0;
};

class GrpcIncomingStream final : public EdgeStream,
                                 public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
                                 public std::enable_shared_from_this<GrpcIncomingStream> {
 public:
  GrpcIncomingStream(grpc::CallbackServerContext* call, std::shared_ptr<GrpcDoorkeeper> doorkeeper,
                     std::function<Round()> round);

  // Begins to read; gRPC owns the stream from here on.
  void Start();
  // Takes the stream for its peer and answers with `self`.
  void Admit(std::shared_ptr<PeerLink> link, const EdgeIdentity& self);

  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override;
  void Leave() override { Abort(absl::OkStatus()); }
  // Ends it without waiting for the caller to listen.
  void Cancel();

  // `tick` has passed: watches for silence.
  void Tick(std::chrono::milliseconds tick, const GrpcTransportOptions& options);
  void Beat();
  // Where the caller's connection comes from.
  std::string address() const { return address_; }
  bool admitted() const { return admitted_; }

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override { Disconnected(); }
  void OnDone() override;

 private:
  bool WriteNext();
  bool Write(const ToSender& message);
  // Handles incoming_.
  absl::Status Take();
  absl::Status TakeChunk(const ChunkHeader& chunk, google::protobuf::io::CodedInputStream* data);
  absl::Status Meet(EdgeIdentity peer);
  void Violated(const absl::Status& how);
  void Disconnected();
  void Finish();

  grpc::CallbackServerContext* const call_;  // until done_
  const std::shared_ptr<GrpcDoorkeeper> doorkeeper_;
  const std::function<Round()> round_;
  const std::string address_;
  std::shared_ptr<GrpcIncomingStream> self_;  // until gRPC is done with it
  WriteLoop writes_;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  SilenceWatch watch_;
  std::shared_ptr<PeerLink> link_;  // set once, before admitted_
  ToSender hello_;                  // likewise
  std::atomic<bool> admitted_ = false;
  bool answered_ = false;                 // the Hello is written; within the write loop
  std::atomic<bool> introduced_ = false;  // a Hello has come
  std::atomic<bool> beat_ = false;

  Mutex mutex_;
  bool done_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);      // set when it is ending
  std::chrono::milliseconds ending_ ABSL_GUARDED_BY(mutex_){0};  // for how long
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_GRPC_INCOMING_STREAM_H_
