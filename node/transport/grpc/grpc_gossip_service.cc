#include "node/transport/grpc/grpc_gossip_service.h"

#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "node/identity/host_address.h"
#include "node/transport/grpc/grpc_streams.h"

namespace grapevine {
namespace {

// The time that a caller has to hear why its stream ends.
constexpr std::chrono::milliseconds kEndTimeout{2000};

grpc::Status ToGrpc(const absl::Status& status) {
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()), std::string(status.message()));
}

}  // namespace

GrpcIncomingStream::GrpcIncomingStream(std::shared_ptr<GrpcStreamAcceptor> acceptor,
                                       RankNames names, std::function<Round()> round,
                                       std::shared_ptr<EdgeFaults> faults)
    : acceptor_(std::move(acceptor)),
      names_(std::move(names)),
      faults_(std::move(faults)),
      talk_({.round = std::move(round),
             .on_hello =
                 [this](EdgeIdentity caller) {
                   acceptor_->OnHello(shared_from_this(), std::move(caller));
                 },
             .leave = [this] { Leave(); }}) {}

void GrpcIncomingStream::Await(RawGossip& service, GrpcQueue& queue) {
  service.RequestExchange(&call_, &stream_, queue.cq(), queue.cq(),
                          accept_.Arm(shared_from_this()));
}

void GrpcIncomingStream::Accepted(bool ok) {
  if (ok && acceptor_->OnConnect(shared_from_this())) ReadNext();
}

void GrpcIncomingStream::ReadNext() { stream_.Read(&incoming_, read_.Arm(shared_from_this())); }

void GrpcIncomingStream::AnswerHello(const EdgeIdentity& self) {
  talk_.AnswerHello(self);
  Wake();
}

void GrpcIncomingStream::Admit(std::shared_ptr<PeerLink> link) {
  peer_ = link->peer();
  const absl::Status status = talk_.Admit(std::move(link));
  if (!status.ok()) return Violated(status);
  Wake();
}

void GrpcIncomingStream::End(const absl::Status& why) {
  MutexLock lock(mutex_);
  if (!end_.has_value()) end_ = why;
}

void GrpcIncomingStream::Abort(const absl::Status& why) {
  End(why);
  writes_.Close();
}

// Ends the stream after the last acknowledgement is written.
void GrpcIncomingStream::Leave() {
  End(absl::OkStatus());
  writes_.Finish();
}

void GrpcIncomingStream::Finish() {
  absl::Status end;
  {
    MutexLock lock(mutex_);
    end = *end_;
  }
  stream_.Finish(ToGrpc(end), finish_.Arm(shared_from_this()));
}

void GrpcIncomingStream::Finished() {
  talk_.Closed();
  acceptor_->OnClosed(this);
}

void GrpcIncomingStream::Beat() {
  talk_.Beat();
  Wake();
}

bool GrpcIncomingStream::WriteNext() {
  if (Held()) return false;
  const std::optional<ToSender> message = talk_.Next();
  if (!message.has_value()) return false;
  stream_.Write(ToByteBuffer(Encode(*message)), write_.Arm(shared_from_this()));
  return true;
}

void GrpcIncomingStream::Written(bool ok) {
  if (!ok) Disconnected();
  writes_.Written();
}

void GrpcIncomingStream::Read(bool ok) {
  if (!ok) return Disconnected();
  grpc::ProtoBufferReader reader(&incoming_);
  const absl::Status heard = talk_.Hear(&reader, static_cast<int64_t>(incoming_.Length()));
  if (!heard.ok()) Violated(heard);
  incoming_.Clear();
  if (!Ending()) ReadNext();
}

void GrpcIncomingStream::Violated(const absl::Status& how) {
  if (!admitted()) return acceptor_->Reject(*this, how);
  Abort(talk_.Violated(how, address()));
}

bool GrpcIncomingStream::Ending() {
  MutexLock lock(mutex_);
  return end_.has_value();
}

void GrpcIncomingStream::Disconnected() {
  if (!Ending() && admitted()) talk_.Broke(address());
  Abort(absl::CancelledError("the caller is gone"));
}

void GrpcIncomingStream::Tick(std::chrono::milliseconds tick, const GrpcTransportOptions& options) {
  {
    MutexLock lock(mutex_);
    if (end_.has_value()) {
      ending_ += tick;
      if (ending_ >= kEndTimeout) Cancel();
      return;
    }
  }
  if (faults_ != nullptr) Wake();  // a message that was held may go on
  if (admitted()) return talk_.Tick(tick, options.peer_timeout, address());
  const absl::Status patient = talk_.TickUnadmitted(tick, options.peer_timeout);
  if (!patient.ok()) acceptor_->Reject(*this, patient);
}

GrpcGossipService::GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                                     std::shared_ptr<StreamCount> streams,
                                     std::shared_ptr<GrpcQueue> queue)
    : options_(std::move(options)),
      acceptor_(options_.token, std::move(links)),
      count_(std::move(streams)),
      queue_(std::move(queue)),
      unproven_(options_.max_unknown_streams, options_.max_unknown_streams) {}

void GrpcGossipService::Open(const EdgeIdentity& self) {
  acceptor_.Open(self);
  AwaitNext();
}

void GrpcGossipService::AwaitNext() {
  std::make_shared<GrpcIncomingStream>(shared_from_this(), options_.names, options_.round,
                                       options_.faults)
      ->Await(service_, *queue_);
}

bool GrpcGossipService::OnConnect(std::shared_ptr<GrpcIncomingStream> stream) {
  AwaitNext();
  count_->Add();
  const std::optional<Refusal> refused = Register(stream);
  if (!refused.has_value()) return true;
  Reject(*refused->stream, refused->why);
  return refused->stream != stream;
}

std::optional<GrpcGossipService::Refusal> GrpcGossipService::Register(
    const std::shared_ptr<GrpcIncomingStream>& stream) {
  MutexLock lock(mutex_);
  const auto [caller, displaced] = unproven_.Enter(HostOfConnection(stream->address()));
  stream->caller = caller;
  streams_.emplace(caller, stream);
  if (closed_)
    return Refusal{stream, absl::UnavailableError("came when this node had left the run")};
  if (!displaced.has_value()) return std::nullopt;
  return Refusal{streams_.at(*displaced),
                 absl::ResourceExhaustedError(absl::StrCat(
                     "had not been authenticated when more than ", unproven_.size(), " came"))};
}

void GrpcGossipService::OnHello(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) {
  const Rank rank = peer.rank;
  acceptor_.OnHello(stream, peer);
  if (!stream->authenticated()) return;
  MutexLock lock(mutex_);
  unproven_.Leave(stream->caller);
  unproven_.Know(rank, HostOfConnection(stream->address()));
}

void GrpcGossipService::KeepPlaceFor(Rank rank, const std::string& address) {
  MutexLock lock(mutex_);
  unproven_.Expect(rank, address);
}

void GrpcGossipService::Reject(GrpcIncomingStream& stream, const absl::Status& why) {
  acceptor_.Reject(stream, why);
}

void GrpcGossipService::OnClosed(GrpcIncomingStream* stream) {
  {
    MutexLock lock(mutex_);
    unproven_.Leave(stream->caller);
    streams_.erase(stream->caller);
  }
  acceptor_.OnClosed(stream);
  count_->Remove();
}

std::vector<std::shared_ptr<GrpcIncomingStream>> GrpcGossipService::Streams() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<GrpcIncomingStream>> streams;
  for (const auto& [caller, stream] : streams_) streams.push_back(stream);
  return streams;
}

void GrpcGossipService::Close() {
  {
    MutexLock lock(mutex_);
    closed_ = true;
  }
  for (const auto& stream : Streams()) {
    if (!stream->admitted()) stream->Abort(absl::UnavailableError("this node left the run"));
  }
}

void GrpcGossipService::Cancel() {
  for (const auto& stream : Streams()) stream->Cancel();
}

void GrpcGossipService::Tick(std::chrono::milliseconds tick) {
  for (const auto& stream : Streams()) stream->Tick(tick, options_);
}

void GrpcGossipService::Beat() {
  for (const auto& stream : Streams()) stream->Beat();
}

}  // namespace grapevine
