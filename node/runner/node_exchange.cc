#include "node/runner/node_exchange.h"

#include <glog/logging.h>

namespace grapevine {

void NodeExchange::GoOnFrom(int64_t bytes_sent, int64_t bytes_received) {
  bytes_sent_ = bytes_sent;
  // Counted before all rounds, whichever round is the node's next.
  bytes_received_.Add(-1, bytes_received);
}

SendId NodeExchange::Send(Rank to, Tag tag, const Payload& payload, const Note& note) {
  bytes_sent_ += BytesOf(payload);
  return Dispatch(to, tag, payload, note, false);
}

SendId NodeExchange::Offer(Rank to, Tag tag, const Payload& payload, const Note& note) {
  return Dispatch(to, tag, payload, note, true);
}

SendId NodeExchange::Dispatch(Rank to, Tag tag, const Payload& payload, const Note& note,
                              bool offered) {
  const int64_t bytes = BytesOf(payload);
  if (trace_ != nullptr) trace_->BeginSend(to, tag, bytes);
  ++last_send_.id;
  const InFlight in_flight{last_send_, offered ? bytes : 0};
  const bool alone = sending_.emplace(std::pair(to, tag), in_flight).second;
  CHECK(alone) << "an earlier message to rank " << to << " with the tag of this one, "
               << Describe(tag) << ", is still in flight";
  absl::StatusOr<Outgoing> message = data_path_->Send(payload);
  status_.Update(message.status());
  if (message.ok()) {
    message->note = note;
    message->offered = offered;
    status_.Update(transport_->Send(to, tag, *std::move(message)));
  }
  return last_send_;
}

void NodeExchange::Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) {
  const auto norm = std::make_shared<StreamedNorm>(
      BytesOf(into),
      max_norm_ < kAnyNorm ? StreamedNorm::Wanted::kNorm : StreamedNorm::Wanted::kFiniteness);
  posted_.emplace(std::pair(from, tag), Posted{round, norm});
  absl::StatusOr<Incoming> buffer = data_path_->Post(from, tag, into);
  status_.Update(buffer.status());
  if (buffer.ok()) {
    buffer->round = round;
    buffer->credit = credit;
    buffer->norm = norm;
    status_.Update(transport_->Post(from, tag, *std::move(buffer)));
  }
}

void NodeExchange::Withdraw(Rank from, Tag tag) {
  CHECK(posted_.contains({from, tag}))
      << "withdrew what is not posted for rank " << from << ": " << Describe(tag);
  status_.Update(transport_->Withdraw(from, tag));
}

absl::Status NodeExchange::OnReceived(Rank from, Tag tag) {
  data_path_->Received(from, tag);
  const Posted& post = posted_.at({from, tag});
  return CheckNumbers(from, tag, post.round, post.norm->squared(), max_norm_);
}

SendId NodeExchange::OnLeft(Rank to, Tag tag) {
  const auto left = sending_.find(std::pair(to, tag));
  CHECK(left != sending_.end()) << "a message to rank " << to
                                << " has left that nobody asked for: " << Describe(tag);
  left->second.left = true;
  bytes_sent_ += left->second.offered;
  return left->second.id;
}

SendId NodeExchange::OnSent(Rank to, Tag tag) {
  const auto sent = sending_.extract(std::pair(to, tag));
  CHECK(!sent.empty()) << "a message to rank " << to
                       << " was sent that nobody asked for: " << Describe(tag);
  return sent.mapped().id;
}

bool NodeExchange::Admits(const Event& event) {
  if (const auto* offer = std::get_if<Offered>(&event)) {
    return !posted_.contains({offer->from, offer->tag});
  }
  if (const auto* message = std::get_if<Received>(&event)) {
    const auto post = posted_.extract({message->from, message->tag});
    if (!post.empty()) bytes_received_.Add(post.mapped().round, message->bytes);
  }
  if (const auto* lost = std::get_if<Lost>(&event)) posted_.erase({lost->from, lost->tag});
  return true;
}

std::set<Rank> NodeExchange::Leaving(SendId last) const {
  std::set<Rank> ranks;
  for (const auto& [message, in_flight] : sending_) {
    if (in_flight.id <= last && !in_flight.left) ranks.insert(message.first);
  }
  return ranks;
}

}  // namespace grapevine
