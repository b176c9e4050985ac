// One attempt at the stream that carries this node's vectors to one peer.
//
// The client's end of Gossip.Exchange: what is said there is sending_end.h's.
// Operations underway keep the object alive.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_STREAM_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/sending_end.h"
#include "node/transport/edge/silence_watch.h"
#include "node/transport/grpc/grpc_queue.h"
#include "node/transport/grpc/write_loop.h"

namespace grapevine {

class GrpcOutgoingStream final : public EdgeStream,
                                 public std::enable_shared_from_this<GrpcOutgoingStream> {
 public:
  struct Context {
    SendingEnd::Context end;
    // The stream is over for a reason that another attempt may mend.
    std::function<void(const absl::Status& why)> retry;
    // The stream is over; called last.
    std::function<void()> done;
  };

  explicit GrpcOutgoingStream(Context context) : context_(std::move(context)), end_(context_.end) {}
  void Start(const std::shared_ptr<grpc::Channel>& channel, GrpcQueue& queue);

  void Wake() override { writes_.Wake(); }
  void Abort(const absl::Status& why) override { Cancel(); }
  void Leave() override;
  void Cancel() { call_.TryCancel(); }

  // Sends a heartbeat soon.
  void Beat();
  bool connected() const { return end_.connected(); }
  SilenceWatch& watch() { return end_.watch(); }

 private:
  void Started(bool ok);
  void ReadNext();
  void Read(bool ok);
  void Written(bool ok);
  void Finish();
  void Finished();
  bool WriteNext();

  const Context context_;
  SendingEnd end_;
  grpc::ClientContext call_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  GrpcTag start_{[this](bool ok) { Started(ok); }};
  GrpcTag read_{[this](bool ok) { Read(ok); }};
  GrpcTag write_{[this](bool ok) { Written(ok); }};
  GrpcTag finish_{[this](bool) { Finished(); }};
  WriteLoop writes_{[this] { return WriteNext(); }, [this] { Finish(); }};
  grpc::Status status_;
  grpc::ByteBuffer incoming_;
  std::atomic<bool> started_ = false;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_OUTGOING_STREAM_H_
