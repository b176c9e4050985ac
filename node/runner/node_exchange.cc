#include "node/runner/node_exchange.h"

#include <glog/logging.h>

namespace grapevine {

SendId NodeExchange::Send(Rank to, Tag tag, const Payload& payload, const Note& note) {
  const int64_t bytes = BytesOf(payload);
  if (trace_ != nullptr) trace_->BeginSend(to, tag, bytes);
  bytes_sent_ += bytes;
  ++last_send_.id;
  const bool alone = sending_.emplace(std::pair(to, tag), InFlight{last_send_}).second;
  CHECK(alone) << "an earlier message to rank " << to << " with the tag of this one, "
               << Describe(tag) << ", is still in flight";
  absl::StatusOr<Outgoing> message = data_path_->Send(payload);
  status_.Update(message.status());
  if (message.ok()) {
    message->note = note;
    status_.Update(transport_->Send(to, tag, *std::move(message)));
  }
  return last_send_;
}

void NodeExchange::Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) {
  bytes_received_.Add(round, BytesOf(into));
  absl::StatusOr<Incoming> buffer = data_path_->Post(from, tag, into);
  status_.Update(buffer.status());
  if (buffer.ok()) {
    buffer->round = round;
    buffer->credit = credit;
    status_.Update(transport_->Post(from, tag, *std::move(buffer)));
  }
}

SendId NodeExchange::OnLeft(Rank to, Tag tag) {
  const auto left = sending_.find(std::pair(to, tag));
  CHECK(left != sending_.end()) << "a message to rank " << to
                                << " has left that nobody asked for: " << Describe(tag);
  left->second.left = true;
  return left->second.id;
}

SendId NodeExchange::OnSent(Rank to, Tag tag) {
  const auto sent = sending_.extract(std::pair(to, tag));
  CHECK(!sent.empty()) << "a message to rank " << to
                       << " was sent that nobody asked for: " << Describe(tag);
  return sent.mapped().id;
}

std::set<Rank> NodeExchange::Leaving(SendId last) const {
  std::set<Rank> ranks;
  for (const auto& [message, in_flight] : sending_) {
    if (in_flight.id <= last && !in_flight.left) ranks.insert(message.first);
  }
  return ranks;
}

}  // namespace grapevine
