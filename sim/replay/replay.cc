#include "sim/replay/replay.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "base/status.h"
#include "kernels/passes/denormals.h"

namespace grapevine {

namespace {

absl::Status Impossible(std::string_view what, Rank peer, const Tag& tag) {
  return absl::InvalidArgumentError(
      absl::StrCat(std::string(what), " (rank ", peer, ", ", Describe(tag), ")"));
}

const std::optional<Event> kNotYet;

}  // namespace

absl::StatusOr<SendId> ReplayedMessages::Send(Rank from, Rank to, Tag tag, const Payload& payload,
                                              const Note& note, bool offered) {
  Node& sender = nodes_[from];
  const SendId id{sender.sends + 1};
  if (!nodes_[to].coming.emplace(Name(from, tag), id.id).second) {
    return Impossible("a tag is used again before its last message has ended", to, tag);
  }
  sender.sends = id.id;
  const MessageId slot = NewSlot();
  store_->Hold(slot, payload);
  sender.sent.emplace(id.id, Message{.to = to,
                                     .tag = tag,
                                     .slot = slot,
                                     .bytes = BytesOf(payload),
                                     .note = note,
                                     .offered = offered});
  return id;
}

absl::Status ReplayedMessages::Post(Rank to, Rank from, Tag tag, const Payload& into) {
  if (nodes_[to].posts.emplace(Name(from, tag), Posted{into}).second) return absl::OkStatus();
  return Impossible("a message is posted for twice", from, tag);
}

absl::Status ReplayedMessages::Decline(Rank to, Rank from, Tag tag) {
  const Name name(from, tag);
  const Message* const message = Coming(to, name);
  if (message == nullptr || !message->announced || nodes_[to].posts.contains(name)) {
    return Impossible("a message is declined that is not offered", from, tag);
  }
  store_->Release(message->slot);
  End(to, name, false);
  return absl::OkStatus();
}

absl::Status ReplayedMessages::Withdraw(Rank to, Rank from, Tag tag) {
  const auto post = nodes_[to].posts.find(Name(from, tag));
  if (post == nodes_[to].posts.end()) {
    return Impossible("a post is taken back that is not there", from, tag);
  }
  post->second.withdrawn = true;
  return absl::OkStatus();
}

ReplayedMessages::Caused ReplayedMessages::Take(Rank rank, const Received& event) {
  const Name name(event.from, event.tag);
  const auto post = nodes_[rank].posts.find(name);
  if (post == nodes_[rank].posts.end()) {
    return Impossible("a message arrives that nobody posted for", event.from, event.tag);
  }
  const Message* const message = Coming(rank, name);
  if (message == nullptr) return kNotYet;
  if (message->bytes != BytesOf(post->second.into)) {
    return Impossible(absl::StrCat("a message of ", message->bytes,
                                   " bytes arrives at a place for ", BytesOf(post->second.into)),
                      event.from, event.tag);
  }
  const Received received{
      .from = event.from, .tag = event.tag, .bytes = message->bytes, .note = message->note};
  store_->Deliver(message->slot, post->second.into);
  nodes_[rank].posts.erase(post);
  End(rank, name, true);
  return std::optional<Event>(received);
}

ReplayedMessages::Caused ReplayedMessages::Take(Rank rank, const Offered& event) {
  const Name name(event.from, event.tag);
  Message* const message = Coming(rank, name);
  if (nodes_[rank].posts.contains(name) ||
      (message != nullptr && (!message->offered || message->announced))) {
    return Impossible("a message is announced that is posted for, or was not offered", event.from,
                      event.tag);
  }
  if (message == nullptr) return kNotYet;
  message->announced = true;
  return std::optional<Event>(Offered{
      .from = event.from, .tag = event.tag, .bytes = message->bytes, .note = message->note});
}

ReplayedMessages::Caused ReplayedMessages::Take(Rank rank, const Lost& event) {
  const auto post = nodes_[rank].posts.find(Name(event.from, event.tag));
  if (post == nodes_[rank].posts.end() || !post->second.withdrawn) {
    return Impossible("a post is lost that was not taken back", event.from, event.tag);
  }
  nodes_[rank].posts.erase(post);
  return std::optional<Event>(event);
}

ReplayedMessages::Caused ReplayedMessages::Take(Rank rank, const Left& event) {
  ASSIGN_OR_RETURN(Message* const message, OwnSend(rank, event.id));
  if (message->left || message->delivered == false) {
    return Impossible("a message leaves twice, or was declined", message->to, message->tag);
  }
  const bool credit = nodes_[message->to].posts.contains(Name(rank, message->tag));
  if (!credit && !message->delivered) return kNotYet;
  message->left = true;
  return std::optional<Event>(event);
}

ReplayedMessages::Caused ReplayedMessages::Take(Rank rank, const Sent& event) {
  ASSIGN_OR_RETURN(const Message* const message, OwnSend(rank, event.id));
  if (event.delivered != message->left) {
    return Impossible("a message ends before it has left, or is declined after", message->to,
                      message->tag);
  }
  if (!message->delivered) return kNotYet;
  if (message->delivered != event.delivered) {
    return Impossible("a message ends as received that was declined, or the other way round",
                      message->to, message->tag);
  }
  nodes_[rank].sent.erase(event.id.id);
  return std::optional<Event>(event);
}

ReplayedMessages::Message* ReplayedMessages::Coming(Rank to, const Name& name) {
  const auto number = nodes_[to].coming.find(name);
  return number == nodes_[to].coming.end() ? nullptr : &nodes_[name.first].sent.at(number->second);
}

absl::StatusOr<ReplayedMessages::Message*> ReplayedMessages::OwnSend(Rank rank, SendId id) {
  const auto message = nodes_[rank].sent.find(id.id);
  if (message != nodes_[rank].sent.end()) return &message->second;
  return absl::InvalidArgumentError(
      absl::StrCat("there is no send ", id.id, " of this node under way"));
}

MessageId ReplayedMessages::NewSlot() {
  if (free_.empty()) return slots_++;
  const MessageId slot = free_.back();
  free_.pop_back();
  return slot;
}

void ReplayedMessages::End(Rank to, const Name& name, bool delivered) {
  Message& message = *Coming(to, name);
  message.delivered = delivered;
  free_.push_back(message.slot);
  nodes_[to].coming.erase(name);
}

namespace {

constexpr char kRemedy[] =
    "; the recording was changed, or this program is not the one that wrote it";

std::string MessageText(std::string_view what, Rank peer, const Tag& tag) {
  return absl::StrCat(std::string(what), " rank ", peer, " (", Describe(tag), ")");
}

// Describes what has to happen first, in words that follow "waits for".
struct Describer {
  std::string operator()(const Start&) const { return "its start"; }
  std::string operator()(const RoundLimit&) const { return "its limit"; }
  std::string operator()(const GradientReady&) const { return "its gradient"; }
  std::string operator()(const Received& event) const {
    return MessageText("a message of", event.from, event.tag);
  }
  std::string operator()(const Offered& event) const {
    return MessageText("an offer of", event.from, event.tag);
  }
  std::string operator()(const Lost& event) const {
    return MessageText("the end of a post for", event.from, event.tag);
  }
  std::string operator()(const Left& event) const {
    return absl::StrCat("a receiver to post for its send ", event.id.id);
  }
  std::string operator()(const Sent& event) const {
    return absl::StrCat("the receiver of its send ", event.id.id);
  }
  // These events are in no recording.
  std::string operator()(const Prepare&) const { return "the loss of a member"; }
  std::string operator()(const ViewChanged&) const { return "a view"; }
};

absl::Status At(const std::string& where, const absl::Status& why) {
  const Failure known = FailureOf(why);
  return WithFailure(
      absl::Status(why.code(), absl::StrCat(where, ": ", std::string(why.message()),
                                            known == Failure::kOther ? kRemedy : "")),
      known == Failure::kOther ? Failure::kInput : known);
}

}  // namespace

Replay::Replay(std::span<const RecordedNode> recordings, VectorStore* vectors, Round most_rounds)
    : StoreHost(vectors),
      most_rounds_(most_rounds),
      messages_(static_cast<Rank>(recordings.size()), vectors) {
  for (const RecordedNode& recording : recordings) {
    nodes_.emplace_back(recording);
    breaks_off_ |= !recording.end();
  }
}

absl::StatusOr<std::unique_ptr<Replay>> Replay::Make(
    std::span<const RecordedNode> recordings, VectorStore* vectors, Round most_rounds,
    const std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(Rank)>& make_algorithm) {
  std::unique_ptr<Replay> replay(new Replay(recordings, vectors, most_rounds));
  for (size_t rank = 0; rank < recordings.size(); ++rank) {
    ASSIGN_OR_RETURN(replay->nodes_[rank].algorithm, make_algorithm(static_cast<Rank>(rank)));
  }
  return replay;
}

absl::Status Replay::Run() {
  const FlushDenormals flush;  // as the threads of nodes do
  for (bool moved = true; moved;) {
    moved = false;
    for (Rank rank = 0; rank < static_cast<Rank>(nodes_.size()); ++rank) {
      ASSIGN_OR_RETURN(bool took, TakeNext(rank));
      while (took) {
        moved = true;
        ASSIGN_OR_RETURN(took, TakeNext(rank));
      }
    }
  }
  return breaks_off_ ? absl::OkStatus() : CheckEnd();
}

absl::StatusOr<bool> Replay::TakeNext(Rank rank) {
  Node& node = nodes_[rank];
  if (node.cursor.done()) return false;
  Caused event =
      std::visit([&](const auto& next) { return Take(rank, next); }, node.cursor.event());
  if (!event.ok()) return At(node.cursor.Where(), event.status());
  if (!*event) return false;
  current_ = rank;
  node.model = {};
  absl::Status status = node.algorithm->On(**event, *this);
  if (status.ok()) status = TakeStatus();
  if (!status.ok()) return At(node.cursor.Where(), status);
  ++events_;
  node.cursor.Next();
  return true;
}

Replay::Caused Replay::Take(Rank rank, const Start& event) {
  if (std::exchange(nodes_[rank].started, true)) {
    return absl::InvalidArgumentError("the node starts a second time");
  }
  return std::optional<Event>(event);
}

Replay::Caused Replay::Take(Rank rank, const RoundLimit& event) {
  if (event.limit > most_rounds_) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the node is given ", event.limit, " rounds, of ", most_rounds_, " that it can have"));
  }
  if (event.limit < std::exchange(nodes_[rank].limit, event.limit)) {
    return absl::InvalidArgumentError("the end of the run moves inwards");
  }
  return std::optional<Event>(event);
}

Replay::Caused Replay::Take(Rank rank, const GradientReady& event) {
  std::optional<PendingGradient>& gradient = nodes_[rank].gradient;
  const bool asked = gradient && gradient->round == event.round;
  const bool cut = asked && event.from < gradient->from &&
                   std::ranges::find(gradient->cuts, event.from) != gradient->cuts.end();
  if (!asked || (!event.whole() && !cut)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a gradient is ready that nobody asked for (round ", event.round, ", from ",
                     event.from, ")"));
  }
  if (!std::exchange(gradient->computed, true)) {
    RETURN_IF_ERROR(store().EndGradient(rank).status());
  }
  gradient->from = event.from;
  if (event.whole()) gradient.reset();
  return std::optional<Event>(event);
}

Replay::Caused Replay::Take(Rank, const Prepare&) {
  return absl::InvalidArgumentError("the members of a recorded run do not change");
}
Replay::Caused Replay::Take(Rank, const ViewChanged&) {
  return absl::InvalidArgumentError("the members of a recorded run do not change");
}

template <typename MessageEvent>
Replay::Caused Replay::Take(Rank rank, const MessageEvent& event) {
  if (nodes_[rank].started) return messages_.Take(rank, event);
  return absl::InvalidArgumentError("the node hears of a message before it has started");
}

absl::Status Replay::CheckEnd() const {
  for (Rank rank = 0; rank < static_cast<Rank>(nodes_.size()); ++rank) {
    if (const std::optional<std::string> waits = WaitsFor(rank)) {
      return InputError(absl::StrCat(*waits, ", which never comes", kRemedy));
    }
  }
  return absl::OkStatus();
}

std::optional<std::string> Replay::WaitsFor(Rank rank) const {
  const EventCursor& cursor = nodes_[rank].cursor;
  if (cursor.done()) return std::nullopt;
  return absl::StrCat(cursor.Where(), ": the node waits for ",
                      std::visit(Describer(), cursor.event()));
}

void Replay::Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  std::optional<PendingGradient>& gradient = nodes_[current_].gradient;
  if (gradient) return Fail(absl::InvalidArgumentError("two gradients are asked for at once"));
  gradient = {.round = round, .cuts = cuts, .from = replica_size(), .computed = false};
  store().BeginGradient(current_, at, into, round);
}

SendId Replay::Send(Rank to, Tag tag, const Payload& payload, const Note& note) {
  return Dispatch(to, tag, payload, note, false);
}

SendId Replay::Offer(Rank to, Tag tag, const Payload& payload, const Note& note) {
  return Dispatch(to, tag, payload, note, true);
}

SendId Replay::Dispatch(Rank to, Tag tag, const Payload& payload, const Note& note, bool offered) {
  const absl::StatusOr<SendId> id = messages_.Send(current_, to, tag, payload, note, offered);
  Fail(id.status());
  return id.ok() ? *id : SendId{};
}

void Replay::Post(Rank from, Tag tag, const Payload& into, Round, Credit) {
  Fail(messages_.Post(current_, from, tag, into));
}

}  // namespace grapevine
