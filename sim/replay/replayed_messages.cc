#include "sim/replay/replayed_messages.h"

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "base/status_macros.h"

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

}  // namespace grapevine
