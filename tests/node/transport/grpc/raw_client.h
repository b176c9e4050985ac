// A client of Gossip.Exchange that may send anything, to test how a node responds. It uses
// generated messages, which also shows that the wire format is plain protobuf.
//
// Thread-compatible. Every call fails after 20 s.
#ifndef GRAPEVINE_TESTS_NODE_TRANSPORT_GRPC_RAW_CLIENT_H_
#define GRAPEVINE_TESTS_NODE_TRANSPORT_GRPC_RAW_CLIENT_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>
#include <optional>
#include <string>

#include "algorithm/event.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/gossip.pb.h"

namespace grapevine {

class RawClient {
 public:
  // In plain text, on a connection of its own.
  explicit RawClient(const std::string& address);
  explicit RawClient(std::shared_ptr<grpc::Channel> channel);

  bool Send(const gossip::ToReceiver& message) { return SendBytes(message.SerializeAsString()); }
  bool SendBytes(const std::string& bytes);
  // nullopt when the stream has ended.
  std::optional<gossip::ToSender> Receive();
  // Says Hello and waits for the answer.
  bool SayHello(const EdgeIdentity& identity);
  // Waits for the credit for `tag`.
  bool AwaitGrant(Tag tag);
  // How the node ended the stream.
  grpc::Status End();
  // Leaves without a goodbye.
  void Cancel() { call_.TryCancel(); }

 private:
  grpc::ClientContext call_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<grpc::ClientReaderWriter<grpc::ByteBuffer, grpc::ByteBuffer>> stream_;
};

gossip::ToReceiver HelloMessage(const EdgeIdentity& identity);
// A complete message in one chunk, with its checksum.
gossip::ToReceiver ChunkMessage(Tag tag, const std::string& data);

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_TRANSPORT_GRPC_RAW_CLIENT_H_
