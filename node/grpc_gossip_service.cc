#include "node/grpc_gossip_service.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"

namespace grapevine {

GrpcGossipService::GrpcGossipService(GrpcTransportOptions options, std::shared_ptr<PeerLinks> links,
                                     std::shared_ptr<StreamCount> streams,
                                     std::shared_ptr<GrpcQueue> queue)
    : options_(std::move(options)),
      links_(std::move(links)),
      count_(std::move(streams)),
      queue_(std::move(queue)) {}

void GrpcGossipService::Open(const EdgeIdentity& self) {
  self_ = self;
  AwaitNext();
}

void GrpcGossipService::AwaitNext() {
  std::make_shared<GrpcIncomingStream>(shared_from_this(), options_.round)
      ->Await(service_, *queue_);
}

bool GrpcGossipService::Knock(std::shared_ptr<GrpcIncomingStream> stream) {
  AwaitNext();
  count_->Add();
  const absl::Status status = Register(stream);
  if (!status.ok()) TurnAway(*stream, status);
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

absl::Status GrpcGossipService::Believe(const EdgeIdentity& peer) const {
  if (!IsProven(peer, EdgeEnd::kCaller, options_.token)) {
    return absl::UnauthenticatedError(absl::StrCat("calls itself rank ", peer.rank, ", but shows ",
                                                   peer.proof.empty() ? "no" : "another",
                                                   " token"));
  }
  if (absl::Status status = CheckSameRun(self_, peer); !status.ok()) return status;
  return links_->To(peer.rank).status();
}

absl::Status GrpcGossipService::LetIn(const std::shared_ptr<GrpcIncomingStream>& stream,
                                      Rank peer) {
  const absl::StatusOr<std::shared_ptr<PeerLink>> link = links_->To(peer);
  if (!link.ok()) return link.status();
  if (absl::Status status = (*link)->AttachIncoming(stream); !status.ok()) return status;
  stream->Admit(*link);
  return absl::OkStatus();
}

absl::Status GrpcGossipService::LetInOrWait(const std::shared_ptr<GrpcIncomingStream>& stream,
                                            Rank peer) {
  {
    MutexLock lock(mutex_);
    if (!neighbours_.contains(peer)) {
      const bool first = waiting_.emplace(peer, stream).second;
      return first ? absl::OkStatus() : ConnectedAlready(peer);
    }
  }
  return LetIn(stream, peer);
}

void GrpcGossipService::Introduce(std::shared_ptr<GrpcIncomingStream> stream, EdgeIdentity peer) {
  absl::Status status = Believe(peer);
  if (status.ok()) status = LetInOrWait(stream, peer.rank);
  if (!status.ok()) return TurnAway(*stream, status);
  stream->Greet(Proven(self_, peer.rank, EdgeEnd::kAnswerer, options_.token));
}

void GrpcGossipService::Expect(std::span<const Rank> neighbours) {
  for (const Rank peer : neighbours) {
    std::shared_ptr<GrpcIncomingStream> stream;
    {
      MutexLock lock(mutex_);
      if (!neighbours_.insert(peer).second) continue;
      if (auto waiting = waiting_.extract(peer)) stream = std::move(waiting.mapped());
    }
    if (stream == nullptr) continue;
    if (absl::Status status = LetIn(stream, peer); !status.ok()) TurnAway(*stream, status);
  }
}

// Who is not believed hears only that.
void GrpcGossipService::TurnAway(GrpcIncomingStream& stream, const absl::Status& why) {
  LOG_EVERY_T(WARNING, 1) << "turned away a caller from " << stream.address() << ": "
                          << why.message();
  stream.Abort(absl::IsUnauthenticated(why) ? absl::UnauthenticatedError("refused") : why);
}

void GrpcGossipService::Gone(GrpcIncomingStream* stream) {
  {
    MutexLock lock(mutex_);
    streams_.erase(stream);
    std::erase_if(waiting_, [&](const auto& entry) { return entry.second.get() == stream; });
  }
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
