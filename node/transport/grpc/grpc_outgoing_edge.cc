#include "node/transport/grpc/grpc_outgoing_edge.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "node/server/grpc_channel.h"
#include "node/server/grpc_credentials.h"
#include "node/transport/grpc/grpc_streams.h"
#include "node/transport/grpc/grpc_transport_options.h"

namespace grapevine {
namespace {

constexpr char kMethod[] = "/grapevine.gossip.Gossip/Exchange";

std::shared_ptr<grpc::Channel> NewChannel(const GrpcOutgoingEdge::Context& context) {
  const auto& credentials = context.options.credentials;
  grpc::ChannelArguments arguments =
      TransportChannelArguments(context.address, context.options.peer_timeout);
  RequireRank(context.options.names, context.link->peer(), &arguments);
  return DirectChannel(context.address,
                       credentials != nullptr ? credentials : grpc::InsecureChannelCredentials(),
                       arguments);
}

// Returns a copy of `bytes` with one bit flipped, so that the vector itself stays correct.
SharedBytes WithAFlippedBit(const SharedBytes& bytes) {
  const auto size = static_cast<size_t>(bytes.size);
  std::shared_ptr<std::byte[]> copy(new std::byte[size]);
  std::copy_n(bytes.begin, size, copy.get());
  copy[size / 2] ^= std::byte{1};
  return {copy, copy.get(), bytes.size};
}

}  // namespace

void GrpcOutgoingStream::Start(const std::shared_ptr<grpc::Channel>& channel, GrpcQueue& queue) {
  stream_ = grpc::GenericStub(channel).PrepareCall(&call_, kMethod, queue.cq());
  stream_->StartCall(start_.Arm(shared_from_this()));
}

void GrpcOutgoingStream::Started(bool ok) {
  if (!ok) return writes_.Close();
  started_ = true;
  ReadNext();
  Wake();
}

void GrpcOutgoingStream::Leave() {
  if (!connected()) return Cancel();
  end_.SayGoodbye();
  Wake();
}

void GrpcOutgoingStream::Beat() {
  end_.Beat();
  Wake();
}

bool GrpcOutgoingStream::WriteNext() {
  if (!started_) return false;
  const std::optional<SendingEnd::Message> message =
      context_.faults == nullptr ? end_.Next() : NextUnderFaults();
  if (!message.has_value()) return false;
  stream_->Write(ToByteBuffer(message->bytes, message->data), write_.Arm(shared_from_this()));
  return true;
}

std::optional<SendingEnd::Message> GrpcOutgoingStream::NextUnderFaults() {
  EdgeFaults& faults = *context_.faults;
  const Rank peer = context_.end.link->peer();
  if (faults.Holds(peer)) return std::nullopt;
  if (dropped_.has_value()) return std::exchange(dropped_, std::nullopt);
  std::optional<SendingEnd::Message> message = end_.Next();
  if (!message.has_value() || message->data.size == 0) return message;
  if (faults.Corrupts(peer)) message->data = WithAFlippedBit(message->data);
  if (!faults.Drops(peer)) return message;
  dropped_ = std::move(message);
  return std::nullopt;
}

void GrpcOutgoingStream::Written(bool ok) {
  if (!ok) writes_.Close();
  writes_.Written();
}

void GrpcOutgoingStream::ReadNext() { stream_->Read(&incoming_, read_.Arm(shared_from_this())); }

void GrpcOutgoingStream::Read(bool ok) {
  if (!ok) return writes_.Close();
  grpc::ProtoBufferReader reader(&incoming_);
  if (!end_.Hear(&reader, static_cast<int64_t>(incoming_.Length())).ok()) {
    Cancel();
    return writes_.Close();
  }
  ReadNext();
  Wake();
}

void GrpcOutgoingStream::Finish() { stream_->Finish(&status_, finish_.Arm(shared_from_this())); }

void GrpcOutgoingStream::Finished() {
  const absl::Status mendable = end_.Ended(
      absl::Status(static_cast<absl::StatusCode>(status_.error_code()), status_.error_message()));
  if (!mendable.ok()) context_.retry(mendable);
  context_.done();
}

GrpcOutgoingEdge::GrpcOutgoingEdge(Context context)
    : context_(std::move(context)),
      channel_(NewChannel(context_)),
      attempts_(context_.link->peer(), context_.address, context_.options.connect_timeout) {}

void GrpcOutgoingEdge::Dial() {
  auto retry = [edge = weak_from_this()](const absl::Status& why) {
    if (const auto alive = edge.lock()) alive->attempts_.Failed(why);
  };
  const RunToken& token = context_.options.token;
  EdgeIdentity self = context_.self;
  self.call.number = ++calls_;
  auto stream = std::make_shared<GrpcOutgoingStream>(GrpcOutgoingStream::Context{
      {Proven(std::move(self), context_.link->peer(), EdgeEnd::kCaller, token), token,
       context_.link, context_.address, context_.checksums, context_.options.round},
      retry,
      [streams = context_.streams] { streams->Remove(); },
      context_.options.faults});
  {
    MutexLock lock(mutex_);
    stream_ = stream;
  }
  context_.streams->Add();
  stream->Start(channel_, *context_.queue);
  if (!context_.link->AttachOutgoing(stream).ok()) return stream->Cancel();
  stream->Wake();
}

std::shared_ptr<GrpcOutgoingStream> GrpcOutgoingEdge::stream() {
  MutexLock lock(mutex_);
  return stream_;
}

bool GrpcOutgoingEdge::connected() {
  return stream()->connected() && !context_.link->outgoing_interrupted();
}

void GrpcOutgoingEdge::Tick(std::chrono::milliseconds tick) {
  if (context_.link->outgoing_over()) return;
  const std::shared_ptr<GrpcOutgoingStream> current = stream();
  if (EdgeFaults* const faults = context_.options.faults.get(); faults != nullptr) {
    if (faults->Cuts(context_.link->peer())) return Cut(*current);
    current->Wake();  // a message that was held may go on
  }
  if (!connected()) return NotConnected(tick);
  const auto silence = current->watch().Tick(tick);
  if (silence < context_.options.peer_timeout) return;
  context_.link->Break(SilentPeer(context_.link->peer(), context_.address, current->watch(),
                                  context_.options.peer_timeout));
}

// Cuts a connection only once it stands: a first connection that cannot be made is not a failure
// that can be mended, and so not what a cut is to show.
void GrpcOutgoingEdge::Cut(GrpcOutgoingStream& current) {
  if (connected()) current.Cancel();
}

void GrpcOutgoingEdge::NotConnected(std::chrono::milliseconds tick) {
  if (context_.link->outgoing_interrupted()) {  // the link bounds how long
    if (attempts_.TakeRetry()) Dial();
    return;
  }
  const absl::StatusOr<bool> again = attempts_.Tick(tick);
  if (!again.ok()) return context_.link->Break(again.status());
  if (*again) Dial();
}

std::string GrpcOutgoingEdge::Connecting() {
  if (over() || connected()) return "";
  return attempts_.Describe();
}

void GrpcOutgoingEdge::Beat() { stream()->Beat(); }

void GrpcOutgoingEdge::Cancel() { stream()->Cancel(); }

}  // namespace grapevine
