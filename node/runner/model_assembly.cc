#include "node/runner/model_assembly.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/runner/model_tree.h"

namespace grapevine {

namespace {

// The number of chunks in flight from a child, and up to the parent.
constexpr int64_t kReductionWindow = 4;

SharedSlice Whole(const SharedVector& vector) { return {vector.data, 0, vector.size}; }

}  // namespace

ModelReduction::ModelReduction(Rank rank, Rank size, const ReplicaLayout* layout,
                               Transport* transport, int64_t chunk_size)
    : rank_(rank),
      size_(size),
      layout_(layout),
      transport_(transport),
      chunk_size_(chunk_size),
      all_(std::make_shared<View>(FirstView(size))),
      view_(all_) {}

int64_t ModelReduction::ChunkSize(int64_t chunk) const {
  return std::min(chunk_size_, layout_->size - chunk * chunk_size_);
}

Tag ModelReduction::MessageTag(int64_t message) const {
  return {static_cast<uint16_t>(kChannel + view_->epoch % kChannel), round_,
          static_cast<uint32_t>(message)};
}

bool ModelReduction::IsPresent(const Tag& tag) const {
  return !idle() && tag.channel == MessageTag(0).channel && tag.index == round_;
}

absl::Status ModelReduction::BeginDue() {
  while (idle() && !average_ && !average_out_ && !due_.empty()) {
    Due due = std::move(due_.front());
    due_.pop_front();
    RETURN_IF_ERROR(Begin(std::move(due)));
  }
  return absl::OkStatus();
}

absl::Status ModelReduction::Begin(Due due) {
  round_ = due.round;
  view_ = due.view ? WithModels(std::move(due.view), size_) : all_;
  lead_ = due.lead;
  const ModelTree tree = TreeAt(rank_, *view_, lead_);
  parent_ = tree.parent;
  children_.clear();
  for (const auto& [rank, nodes] : tree.children) {
    children_.push_back({.rank = rank, .nodes = nodes});
  }
  orphan_ = false;
  if (rank_ == lead_) {
    mean_ = means_.Take(layout_->size, "the averaged model");
    std::copy_n(due.model.data.get(), layout_->size, mean_.data.get());
  } else {
    replica_ = std::move(due.model);
  }
  merged_ = 0;
  distances_ = {};
  for (Child& child : children_) RETURN_IF_ERROR(PostAhead(child));
  return Advance();
}

SharedBytes ModelReduction::BufferFor(Child& child, int64_t message) const {
  if (message < chunks())
    return Whole(child.chunks.emplace_back(NewSharedVector(ChunkSize(message))));
  child.distances = std::make_shared<MergedDistances>();
  return Bytes(child.distances);
}

absl::Status ModelReduction::PostAhead(Child& child) {
  if (child.lost) return absl::OkStatus();
  for (; child.posted < std::min(messages(), merged_ + kReductionWindow); ++child.posted) {
    RETURN_IF_ERROR(
        transport_->Post(child.rank, MessageTag(child.posted), BufferFor(child, child.posted)));
  }
  return absl::OkStatus();
}

absl::Status ModelReduction::OnReceived(const Received& message) {
  const Tag& tag = message.tag;
  for (Child& child : children_) {
    if (child.rank != message.from) continue;
    if (child.lost) return absl::OkStatus();  // it was on its way
    if (idle() || tag != MessageTag(child.arrived)) break;
    if (++child.arrived == messages()) child.merged = message.note.weight;
    return Advance();
  }
  return absl::InternalError(absl::StrCat("model reduction: message ", tag.step, " of round ",
                                          tag.index, " came unexpectedly from rank ",
                                          message.from));
}

absl::Status ModelReduction::OnSent(Rank, Tag tag) {
  std::erase(unsent_, tag);
  return idle() ? absl::OkStatus() : Advance();
}

absl::Status ModelReduction::OnLost(Rank from, Tag tag) {
  const auto child = std::ranges::find(children_, from, &Child::rank);
  if (!IsPresent(tag) || child == children_.end()) return absl::OkStatus();
  child->lost = true;
  child->chunks.clear();
  return Advance();
}

absl::Status ModelReduction::OnUndelivered(Rank, Tag tag) {
  orphan_ = orphan_ || IsPresent(tag);
  std::erase(unsent_, tag);
  return idle() ? absl::OkStatus() : Advance();
}

// Merges and passes on every message that all children have delivered.
absl::Status ModelReduction::Advance() {
  while (merged_ < messages() && std::ssize(unsent_) < kReductionWindow &&
         std::ranges::all_of(children_,
                             [&](const Child& c) { return c.lost || c.arrived > merged_; })) {
    RETURN_IF_ERROR(merged_ < chunks() ? MergeChunk(merged_) : MergeDistances());
    ++merged_;
    for (Child& child : children_) RETURN_IF_ERROR(PostAhead(child));
  }
  FinishIfDone();
  return absl::OkStatus();
}

absl::Status ModelReduction::MergeChunk(int64_t chunk) {
  const int64_t begin = chunk * chunk_size_;
  const int64_t size = ChunkSize(chunk);
  if (children_.empty() && rank_ != lead_) {
    return SendUp(chunk, SharedSlice{replica_.data, begin, size});  // a leaf's own chunk, as it is
  }
  SharedSlice merged{mean_.data, begin, size};
  if (rank_ != lead_) {
    merged = Whole(NewSharedVector(size));
    std::copy_n(replica_.data.get() + begin, size, merged.begin());
  }
  const int64_t counted = std::clamp<int64_t>(layout_->parameter_size - begin, 0, size);
  double nodes = 1;
  for (Child& child : children_) {
    if (child.lost) continue;
    const double other = static_cast<double>(child.nodes);
    const MergedDistances added =
        MergeMeans(child.chunks.front().data.get(), other, nodes, size, counted, merged.begin());
    if (!std::isfinite(added.counted + added.rest)) return NotFinite(child);
    distances_.counted += added.counted;
    distances_.rest += added.rest;
    nodes += other;
    child.chunks.pop_front();
  }
  return rank_ == lead_ ? absl::OkStatus() : SendUp(chunk, merged);
}

// A child sends no chunk that is not finite, unless the chunk is its own.
absl::Status ModelReduction::NotFinite(const Child& child) const {
  const SharedVector& chunk = child.chunks.front();
  RETURN_IF_ERROR(CheckIsFinite(child.rank, round_, chunk.data.get(), chunk.size));
  return IsNotFinite(rank_, round_);
}

absl::Status ModelReduction::MergeDistances() {
  models_ = 1;
  for (const Child& child : children_) {
    if (child.lost) continue;
    models_ += child.merged;
    distances_.counted += child.distances->counted;
    distances_.rest += child.distances->rest;
  }
  if (rank_ == lead_) return absl::OkStatus();
  Outgoing sums = Bytes(std::make_shared<MergedDistances>(distances_));
  sums.note.weight = models_;
  return SendUp(chunks(), std::move(sums));
}

absl::Status ModelReduction::SendUp(int64_t message, Outgoing bytes) {
  if (orphan_) return absl::OkStatus();
  unsent_.push_back(MessageTag(message));
  return transport_->Send(parent_, MessageTag(message), std::move(bytes));
}

void ModelReduction::FinishIfDone() {
  if (merged_ < messages()) return;
  if (rank_ == lead_) {
    SharedVector mean = std::exchange(mean_, {});
    if (models_ == view_->size()) {
      average_ = AverageOf(round_, std::move(mean), distances_, models_, *layout_);
    } else {
      void_.push_back(round_);
    }
  }
  replica_ = {};
}

std::optional<AveragedModel> ModelReduction::TakeAverage() {
  average_out_ = average_out_ || average_.has_value();
  return std::exchange(average_, std::nullopt);
}

std::vector<Waiting> ModelReduction::waiting_for() const {
  std::vector<Waiting> waiting;
  if (idle()) return waiting;
  for (const Child& child : children_) {
    if (child.lost || child.arrived > merged_) continue;
    waiting.push_back({child.rank, MessageTag(child.arrived)});
  }
  // The parent has not taken what was sent up yet.
  if (std::ssize(unsent_) >= kReductionWindow) waiting.push_back({parent_, unsent_.front()});
  return waiting;
}

std::vector<Rank> ModelReduction::Peers() const {
  std::vector<Rank> peers;
  if (!takes_part()) return peers;
  const ModelTree tree = TreeAt(rank_, *all_, 0);
  if (rank_ > 0) peers.push_back(tree.parent);
  for (const ModelTree::Branch& child : tree.children) peers.push_back(child.rank);
  return peers;
}

namespace {

// The number of chunks of a shard in flight.
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

// The chunks of one peer end in any order; only their number matters.
absl::Status ModelGather::EndChunk(Rank peer, Tag tag) {
  const auto found = shards_.find(peer);
  if (found == shards_.end() || tag.index != round_ || tag.step >= found->second.begun) {
    return absl::InternalError(absl::StrCat("gathering the servers' weights: chunk ", tag.step,
                                            " of round ", tag.index,
                                            " came unexpectedly from rank ", peer));
  }
  Shard& shard = found->second;
  if (!server()) RETURN_IF_ERROR(CheckChunk(peer, shard, tag));
  ++shard.ended;
  RETURN_IF_ERROR(Continue(peer, shard));
  if (shard.ended == chunks(shard)) shards_.erase(found);
  if (!shards_.empty()) return absl::OkStatus();
  own_ = {};
  if (!server()) average_ = JoinedOf(round_, std::exchange(whole_, {}));
  return absl::OkStatus();
}

absl::Status ModelGather::CheckChunk(Rank server, const Shard& shard, Tag tag) const {
  const SharedSlice chunk = ChunkOf(shard, tag.step);
  return CheckIsFinite(server, round_, chunk.begin(), chunk.size);
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
