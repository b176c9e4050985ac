#include "node/grpc_gossip_service.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace grapevine {

GrpcGossipService::GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                                     std::shared_ptr<StreamCount> streams)
    : options_(std::move(options)), links_(std::move(links)), count_(std::move(streams)) {}

int GrpcGossipService::Strangers() {
  return static_cast<int>(std::count_if(streams_.begin(), streams_.end(), [](const auto& entry) {
    return !entry.second->admitted();
  }));
}

grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>* GrpcGossipService::Exchange(
    grpc::CallbackServerContext* call) {
  auto stream = std::make_shared<GrpcIncomingStream>(call, shared_from_this(), options_.round);
  absl::Status full;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kLeft) full = absl::UnavailableError("this node has left the run");
    if (Strangers() >= options_.max_unknown_streams) {
      full = absl::ResourceExhaustedError(
          absl::StrCat("came while ", options_.max_unknown_streams, " others are unknown"));
    }
    streams_.emplace(stream.get(), stream);
  }
  count_->Add();
  stream->Start();
  if (!full.ok()) TurnAway(*stream, full);
  return stream.get();
}

void GrpcGossipService::Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) {
  EdgeIdentity self;
  {
    MutexLock lock(mutex_);
    if (state_ == State::kWaiting) {
      early_.emplace_back(std::move(stream), std::move(peer));
      return;
    }
    self = self_;
  }
  Decide(stream, self, peer);
}

void GrpcGossipService::Join(const EdgeIdentity& self) {
  std::vector<std::pair<std::shared_ptr<GrpcIncomingStream>, EdgeIdentity>> early;
  {
    MutexLock lock(mutex_);
    CHECK(state_ == State::kWaiting);
    state_ = State::kJoined;
    self_ = self;
    early.swap(early_);
  }
  for (const auto& [stream, peer] : early) Decide(stream, self, peer);
}

void GrpcGossipService::Decide(const std::shared_ptr<GrpcIncomingStream>& stream,
                               const EdgeIdentity& self, const EdgeIdentity& peer) {
  absl::Status fits = CheckSameRun(self, peer);
  if (!fits.ok()) return TurnAway(*stream, fits);
  const absl::StatusOr<std::shared_ptr<PeerLink>> link = links_->To(peer.rank);
  if (!link.ok()) return TurnAway(*stream, link.status());
  if (absl::Status free = (*link)->AttachIncoming(stream); !free.ok()) {
    return TurnAway(*stream, free);
  }
  stream->Admit(*link, self);
}

void GrpcGossipService::TurnAway(GrpcIncomingStream& stream, const absl::Status& why) {
  LOG_EVERY_T(WARNING, 1) << "turned away a caller from " << stream.address() << ": "
                          << why.message();
  stream.Abort(why);
}

void GrpcGossipService::Gone(GrpcIncomingStream* stream) {
  {
    MutexLock lock(mutex_);
    streams_.erase(stream);
    std::erase_if(early_, [stream](const auto& entry) { return entry.first.get() == stream; });
  }
  count_->Remove();
}

std::vector<std::shared_ptr<GrpcIncomingStream>> GrpcGossipService::Streams() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<GrpcIncomingStream>> streams;
  for (const auto& [pointer, stream] : streams_) streams.push_back(stream);
  return streams;
}

void GrpcGossipService::Leave() {
  {
    MutexLock lock(mutex_);
    state_ = State::kLeft;
    early_.clear();
  }
  for (const auto& stream : Streams()) {
    if (!stream->admitted()) TurnAway(*stream, absl::UnavailableError("this node left the run"));
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
