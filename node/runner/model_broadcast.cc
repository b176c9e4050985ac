#include "node/runner/model_broadcast.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/runner/model_tree.h"

namespace grapevine {
namespace {

// The number of chunks in flight from the parent, and to each child.
constexpr int64_t kBroadcastWindow = 4;

absl::Status Unexpected(const Received& message) {
  return absl::InternalError(absl::StrCat("averaged model: message ", message.tag.step,
                                          " of round ", message.tag.index,
                                          " came unexpectedly from rank ", message.from));
}

}  // namespace

ModelBroadcast::ModelBroadcast(std::unique_ptr<ModelAssembly> assembly, Rank rank, Rank size,
                               const ReplicaLayout* layout, Transport* transport,
                               int64_t chunk_size)
    : assembly_(std::move(assembly)),
      rank_(rank),
      size_(size),
      layout_(layout),
      transport_(transport),
      chunk_size_(chunk_size),
      all_(std::make_shared<View>(FirstView(size))) {}

void ModelBroadcast::Add(Due due) {
  due_.push_back({due.round, due.view ? WithModels(due.view, size_) : all_, due.lead});
  assembly_->Add(std::move(due));
}

absl::Status ModelBroadcast::BeginDue() {
  RETURN_IF_ERROR(assembly_->BeginDue());
  CollectResults();
  while (!current_ && !due_.empty()) {
    const bool lead = due_.front().lead == rank_;
    if (lead && results_.empty()) break;
    RETURN_IF_ERROR(Begin(std::move(due_.front())));
    due_.pop_front();
    if (lead) {
      HaveAll(std::move(results_.front()));
      results_.pop_front();
    }
    RETURN_IF_ERROR(Advance());
  }
  return absl::OkStatus();
}

void ModelBroadcast::CollectResults() {
  for (size_t none = assembly_->TakeVoid().size(); none > 0; --none) results_.emplace_back();
  if (std::optional<AveragedModel> average = assembly_->TakeAverage()) {
    results_.push_back(std::move(average));
  }
}

absl::Status ModelBroadcast::Begin(Announced due) {
  const ModelTree tree = TreeAt(rank_, *due.view, due.lead);
  current_ = {.round = due.round,
              .channel = static_cast<uint16_t>(kChannel + due.view->epoch % kChannel),
              .parent = tree.parent,
              .nodes = due.view->size(),
              .distances = std::make_shared<MergedDistances>()};
  for (const ModelTree::Branch& child : tree.children) {
    current_->listeners.push_back({.rank = child.rank});
  }
  for (const Listener& child : current_->listeners) {
    RETURN_IF_ERROR(transport_->Post(child.rank, MessageTag(messages()), Bytes(child.answer)));
  }
  if (due.lead != rank_) current_->model = models_.Take(layout_->size, "the averaged model");
  return absl::OkStatus();
}

void ModelBroadcast::HaveAll(std::optional<AveragedModel> average) {
  current_->available = messages();
  current_->valid = average.has_value();
  if (average) {
    current_->model = average->model;
    *current_->distances = {average->consensus_distance.value_or(0),
                            average->buffer_distance.value_or(0)};
    average->bytes_sent += MergeBytes(current_->nodes, layout_->size) +
                           (current_->nodes - 1) * int64_t{sizeof(MergedDistances)};
  } else {
    current_->model = NewSharedVector(layout_->size);
    std::ranges::fill(current_->model.span(), 0.0f);
  }
  telling_ = std::move(average);
}

Tag ModelBroadcast::MessageTag(int64_t message) const {
  return {current_->channel, current_->round, static_cast<uint32_t>(messages() + message)};
}

std::optional<int64_t> ModelBroadcast::MessageOf(const Tag& tag) const {
  if (!current_ || tag.channel != current_->channel || tag.index != current_->round) {
    return std::nullopt;
  }
  return tag.step - messages();
}

SharedBytes ModelBroadcast::MessageAt(int64_t message) const {
  if (message < chunks()) {
    const int64_t begin = message * chunk_size_;
    return SharedSlice{current_->model.data, begin, std::min(chunk_size_, layout_->size - begin)};
  }
  return Bytes(current_->distances);
}

absl::Status ModelBroadcast::Advance() {
  Current& current = *current_;
  const int64_t wanted = std::min(messages(), current.available + kBroadcastWindow);
  for (; current.available < messages() && current.posted < wanted; ++current.posted) {
    RETURN_IF_ERROR(
        transport_->Post(current.parent, MessageTag(current.posted), MessageAt(current.posted)));
  }
  for (Listener& child : current.listeners) RETURN_IF_ERROR(PassOn(child));
  const bool ended =
      current.available == messages() && std::ranges::all_of(current.listeners, &Listener::done);
  return ended ? End() : absl::OkStatus();
}

absl::Status ModelBroadcast::PassOn(Listener& child) {
  const int64_t most = std::min(current_->available, child.taken + kBroadcastWindow);
  for (; !child.lost && child.sent < most; ++child.sent) {
    Outgoing message = MessageAt(child.sent);
    message.note.weight = current_->valid ? 1 : 0;
    RETURN_IF_ERROR(transport_->Send(child.rank, MessageTag(child.sent), std::move(message)));
  }
  return absl::OkStatus();
}

absl::Status ModelBroadcast::End() {
  const Current ended = *current_;
  double told = ended.valid ? 1 : 0;
  for (const Listener& child : ended.listeners) told += child.told.value_or(0);
  const Tag answer = MessageTag(messages());
  current_.reset();
  if (ended.parent == rank_) {
    EndAtLead(told == static_cast<double>(ended.nodes), ended.round);
    return absl::OkStatus();
  }
  if (!ended.orphan) {
    Outgoing message = Bytes(ended.distances);
    message.note.weight = told;
    RETURN_IF_ERROR(transport_->Send(ended.parent, answer, std::move(message)));
  }
  if (!ended.valid) return absl::OkStatus();
  RETURN_IF_ERROR(CheckIsFinite(ended.parent, ended.round, ended.model.data.get(), layout_->size));
  told_ = {
      .round = ended.round, .model = ended.model, .consensus_distance = ended.distances->counted};
  if (layout_->size > layout_->parameter_size) told_->buffer_distance = ended.distances->rest;
  return absl::OkStatus();
}

void ModelBroadcast::EndAtLead(bool told, Round round) {
  std::optional<AveragedModel> average = std::exchange(telling_, std::nullopt);
  if (told) {
    average_ = std::move(average);
    return;
  }
  if (average) assembly_->ReleaseAverage();
  void_.push_back(round);
}

absl::Status ModelBroadcast::OnReceived(const Received& message) {
  if (!IsOfBroadcast(message.tag)) return assembly_->OnReceived(message);
  const std::optional<int64_t> number = MessageOf(message.tag);
  if (number == messages()) return OnAnswer(message);
  const bool expected = number && message.from == current_->parent && *number < current_->posted;
  if (expected && current_->orphan) return absl::OkStatus();  // it was on its way
  if (!expected || *number != current_->available) return Unexpected(message);
  ++current_->available;
  current_->valid = current_->valid && message.note.weight == 1;
  return Advance();
}

absl::Status ModelBroadcast::OnAnswer(const Received& message) {
  for (Listener& child : current_->listeners) {
    if (child.rank != message.from) continue;
    if (child.lost) return absl::OkStatus();  // it was on its way
    if (child.told || child.sent < messages()) break;
    child.told = message.note.weight;
    return Advance();
  }
  return Unexpected(message);
}

absl::Status ModelBroadcast::OnLost(Rank from, Tag tag) {
  if (!IsOfBroadcast(tag)) return assembly_->OnLost(from, tag);
  const std::optional<int64_t> number = MessageOf(tag);
  if (!number) return absl::OkStatus();
  if (*number == messages()) return OnListener(from, [](Listener& child) { child.lost = true; });
  if (from != current_->parent) return absl::OkStatus();
  current_->orphan = true;
  current_->valid = current_->valid && current_->available == messages();
  current_->available = messages();
  return Advance();
}

absl::Status ModelBroadcast::OnSent(Rank to, Tag tag) {
  if (!IsOfBroadcast(tag)) return assembly_->OnSent(to, tag);
  if (!MessageOf(tag)) return absl::OkStatus();
  return OnListener(to, [](Listener& child) { ++child.taken; });
}

absl::Status ModelBroadcast::OnUndelivered(Rank to, Tag tag) {
  if (!IsOfBroadcast(tag)) return assembly_->OnUndelivered(to, tag);
  if (!MessageOf(tag)) return absl::OkStatus();
  return OnListener(to, [](Listener& child) { child.lost = true; });
}

absl::Status ModelBroadcast::OnListener(Rank rank, void (*happens)(Listener& child)) {
  for (Listener& child : current_->listeners) {
    if (child.rank == rank) happens(child);
  }
  return Advance();
}

bool ModelBroadcast::holds_up() const {
  return assembly_->holds_up() ||
         (current_ && std::ranges::any_of(due_, [this](const Announced& due) {
            return due.round != current_->round;
          }));
}

std::vector<Waiting> ModelBroadcast::waiting_for() const {
  std::vector<Waiting> waiting = assembly_->waiting_for();
  if (!current_) return waiting;
  if (current_->available < messages()) {
    waiting.push_back({current_->parent, MessageTag(current_->available)});
  }
  for (const Listener& child : current_->listeners) {
    if (child.done()) continue;
    if (child.sent == messages()) waiting.push_back({child.rank, MessageTag(messages())});
    // The child has not taken yet what was sent to it.
    if (child.sent == child.taken + kBroadcastWindow) {
      waiting.push_back({child.rank, MessageTag(child.taken)});
    }
  }
  return waiting;
}

}  // namespace grapevine
