#include "node/transport/grpc/grpc_gossip_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {

GrpcGossipService::GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                                     std::shared_ptr<StreamCount> streams,
                                     std::shared_ptr<GrpcQueue> queue)
    : options_(std::move(options)),
      door_(options_.token, std::move(links)),
      count_(std::move(streams)),
      queue_(std::move(queue)) {}

void GrpcGossipService::Open(const EdgeIdentity& self) {
  door_.Open(self);
  AwaitNext();
}

void GrpcGossipService::AwaitNext() {
  std::make_shared<GrpcIncomingStream>(shared_from_this(), options_.round)
      ->Await(service_, *queue_);
}

bool GrpcGossipService::OnConnect(std::shared_ptr<GrpcIncomingStream> stream) {
  AwaitNext();
  count_->Add();
  const absl::Status status = Register(stream);
  if (!status.ok()) Reject(*stream, status);
  return status.ok();
}

absl::Status GrpcGossipService::Register(const std::shared_ptr<GrpcIncomingStream>& stream) {
  MutexLock lock(mutex_);
  const auto strangers = std::count_if(streams_.begin(), streams_.end(),
                                       [](const auto& entry) { return !entry.second->greeted(); });
  streams_.emplace(stream.get(), stream);
  if (closed_) return absl::UnavailableError("came when this node had left the run");
  if (strangers < options_.max_unknown_streams) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("came while ", strangers, " others had not introduced themselves"));
}

void GrpcGossipService::Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) {
  door_.Introduce(stream, peer);
}

void GrpcGossipService::Reject(GrpcIncomingStream& stream, const absl::Status& why) {
  door_.Reject(stream, why);
}

void GrpcGossipService::OnClosed(GrpcIncomingStream* stream) {
  {
    MutexLock lock(mutex_);
    streams_.erase(stream);
  }
  door_.OnClosed(stream);
  count_->Remove();
}

std::vector<std::shared_ptr<GrpcIncomingStream>> GrpcGossipService::Streams() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<GrpcIncomingStream>> streams;
  for (const auto& [pointer, stream] : streams_) streams.push_back(stream);
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
