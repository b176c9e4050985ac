#include "node/runner/model_gather.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// Chunks of a shard in flight.
constexpr int64_t kGatherWindow = 4;

}  // namespace

ModelGather::ModelGather(Rank rank, Rank workers, Rank nodes, const ReplicaLayout* layout,
                         Transport* transport, int64_t chunk_size)
    : rank_(rank),
      workers_(workers),
      nodes_(nodes),
      layout_(layout),
      transport_(transport),
      chunk_size_(chunk_size) {}

int64_t ModelGather::chunks(const Shard& shard) const {
  return (shard.slice.size + chunk_size_ - 1) / chunk_size_;
}

SharedSlice ModelGather::ChunkOf(const Shard& shard, int64_t chunk) const {
  const int64_t begin = chunk * chunk_size_;
  return {shard.slice.owner, shard.slice.offset + begin,
          std::min(chunk_size_, shard.slice.size - begin)};
}

Tag ModelGather::ChunkTag(int64_t chunk) const {
  return {kChannel, round_, static_cast<uint32_t>(chunk)};
}

ReplicaRange ModelGather::RangeOf(Rank server) const {
  const int64_t index = server - workers_;
  const int64_t servers = nodes_ - workers_;
  const int64_t begin = layout_->size * index / servers;
  return {begin, layout_->size * (index + 1) / servers - begin};
}

absl::Status ModelGather::BeginDue() {
  while (idle() && !average_ && !average_out_ && !due_.empty()) {
    Due due = std::move(due_.front());
    due_.pop_front();
    RETURN_IF_ERROR(Begin(std::move(due)));
  }
  return absl::OkStatus();
}

absl::Status ModelGather::Begin(Due due) {
  round_ = due.round;
  if (server()) {
    own_ = std::move(due.model);
    if (own_.size == 0) return absl::OkStatus();
    shards_[0] = {.slice = {own_.data, 0, own_.size}};
  } else {
    whole_ = wholes_.Take(layout_->size, "the servers' weights");
    for (Rank server = workers_; server < nodes_; ++server) {
      const ReplicaRange range = RangeOf(server);
      if (range.size > 0) shards_[server] = {.slice = {whole_.data, range.offset, range.size}};
    }
  }
  for (auto& [peer, shard] : shards_) RETURN_IF_ERROR(Continue(peer, shard));
  return absl::OkStatus();
}

absl::Status ModelGather::Continue(Rank peer, Shard& shard) {
  for (; shard.begun < std::min(chunks(shard), shard.ended + kGatherWindow); ++shard.begun) {
    const SharedSlice chunk = ChunkOf(shard, shard.begun);
    RETURN_IF_ERROR(server() ? transport_->Send(peer, ChunkTag(shard.begun), chunk)
                             : transport_->Post(peer, ChunkTag(shard.begun), chunk));
  }
  return absl::OkStatus();
}

absl::Status ModelGather::OnReceived(const Received& message) {
  return EndChunk(message.from, message.tag);
}
absl::Status ModelGather::OnSent(Rank to, Tag tag) { return EndChunk(to, tag); }

// Chunks of one peer end in any order; they are counted.
absl::Status ModelGather::EndChunk(Rank peer, Tag tag) {
  const auto found = shards_.find(peer);
  if (found == shards_.end() || tag.index != round_ || tag.step >= found->second.begun) {
    return absl::InternalError(absl::StrCat("gathering the servers' weights: chunk ", tag.step,
                                            " of round ", tag.index,
                                            " came unexpectedly from rank ", peer));
  }
  Shard& shard = found->second;
  ++shard.ended;
  RETURN_IF_ERROR(Continue(peer, shard));
  if (shard.ended == chunks(shard)) shards_.erase(found);
  if (!shards_.empty()) return absl::OkStatus();
  own_ = {};
  if (!server()) average_ = JoinedOf(round_, std::exchange(whole_, {}));
  return absl::OkStatus();
}

std::optional<AveragedModel> ModelGather::TakeAverage() {
  average_out_ = average_out_ || average_.has_value();
  return std::exchange(average_, std::nullopt);
}

std::vector<Waiting> ModelGather::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const auto& [peer, shard] : shards_) waiting.push_back({peer, ChunkTag(shard.ended)});
  return waiting;
}

std::vector<Rank> ModelGather::Peers() const {
  if (server()) return {0};
  std::vector<Rank> peers;
  for (Rank rank = workers_; rank_ == 0 && rank < nodes_; ++rank) peers.push_back(rank);
  return peers;
}

}  // namespace grapevine
