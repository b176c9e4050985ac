#include "algorithm/gossip/replica_exchange.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

constexpr uint16_t kReplicaChannel = 0;

Tag ReplicaTag(Round round) { return {kReplicaChannel, round, 0}; }

}  // namespace

ReplicaExchange::ReplicaExchange(const AlgorithmOptions& options, Round delay)
    : rank_(options.rank),
      mixing_(options.mixing),
      window_(options.window),
      delay_(delay),
      capacity_(options.window + delay),
      changing_(mixing_->topology().period() != 1) {}

bool ReplicaExchange::SameGraph(Round known, Round round) const {
  const Round period = mixing_->topology().period();
  return known >= 0 && period > 0 && (round - known) % period == 0;
}

ReplicaExchange::Inbox& ReplicaExchange::OpenInbox(Round due, Round round) {
  if (due < capacity_) inboxes_.emplace_back();
  Inbox& inbox = Due(due);
  if (!SameGraph(inbox.round, round)) mixing_->Row(rank_, round, &inbox.row);
  inbox.round = round;
  inbox.slots.clear();
  return inbox;
}

void ReplicaExchange::PostAhead(Round round, Round limit, Host& host) {
  round_ = round;
  for (; posted_ < std::min(limit, round_ + window_); ++posted_) {
    Post(&OpenInbox(posted_ + delay_, posted_), host);
  }
}

void ReplicaExchange::Post(Inbox* inbox, Host& host) {
  const Credit credit = changing_ ? Credit::kInTurn : Credit::kAtOnce;
  for (const Neighbour& neighbour : inbox->row.in) {
    const Vec replica = host.New(host.replica_size(), "a neighbour's replica");
    inbox->slots.push_back({.replica = replica});
    host.Post(neighbour.rank, ReplicaTag(inbox->round), Whole(replica, host), inbox->round + delay_,
              credit);
  }
  inbox->missing = inbox->slots.size();
  missing_ += inbox->missing;
}

ReplicaExchange::Inbox& ReplicaExchange::FillInbox(Round due, Vec replica, Host& host) {
  Inbox& inbox = OpenInbox(due, due);
  const Term copied{1.0, Whole(replica, host)};
  for (size_t i = 0; i < inbox.row.in.size(); ++i) {
    const Vec copy = host.New(host.replica_size(), "a neighbour's replica");
    host.Combine(Whole(copy, host), {&copied, 1});
    inbox.slots.push_back({.replica = copy, .arrived = true});
  }
  return inbox;
}

void ReplicaExchange::Share(Vec replica, const Note& note, Host& host) {
  if (changing_ && Lagging()) {
    held_ = Held{replica, note};
    return;
  }
  if (!SameGraph(readers_round_, round_)) {
    mixing_->topology().OutNeighbours(rank_, round_, &readers_);
    readers_round_ = round_;
  }
  for (const Rank peer : readers_) {
    const SendId id = host.Send(peer, ReplicaTag(round_), Whole(replica, host), note);
    unsent_.push_back({.id = id, .round = round_, .to = peer});
  }
}

absl::StatusOr<ReplicaExchange::Slot*> ReplicaExchange::OnReceived(const Received& event) {
  const Round round = event.tag.index;
  if (round >= 0 && round + delay_ >= round_ && round < posted_ && event.tag == ReplicaTag(round)) {
    Inbox& inbox = Due(round + delay_);
    const auto from = std::ranges::lower_bound(inbox.row.in, event.from, {}, &Neighbour::rank);
    Slot* const slot = from != inbox.row.in.end() && from->rank == event.from
                           ? &inbox.slots[from - inbox.row.in.begin()]
                           : nullptr;
    if (slot != nullptr && !slot->arrived) {
      slot->arrived = true;
      --inbox.missing;
      --missing_;
      return slot;
    }
  }
  return absl::InternalError(absl::StrCat("a replica of rank ", event.from, " for round ", round,
                                          " came without a post in round ", round_));
}

absl::StatusOr<std::vector<ReplicaExchange::Unsent>::iterator> ReplicaExchange::Find(SendId id) {
  const auto sent = std::ranges::lower_bound(unsent_, id, {}, &Unsent::id);
  if (sent != unsent_.end() && sent->id == id) return sent;
  return absl::InternalError(absl::StrCat("send ", id.id, " was reported in round ", round_,
                                          "; no such replica is on its way"));
}

absl::Status ReplicaExchange::OnLeft(SendId id, Host& host) {
  ASSIGN_OR_RETURN(const auto left, Find(id));
  left->left = true;
  if (const auto held = std::exchange(held_, std::nullopt)) Share(held->replica, held->note, host);
  return absl::OkStatus();
}

absl::Status ReplicaExchange::OnSent(SendId id) {
  ASSIGN_OR_RETURN(const auto sent, Find(id));
  unsent_.erase(sent);
  return absl::OkStatus();
}

bool ReplicaExchange::Lagging() const {
  return std::ranges::any_of(unsent_, [this](const Unsent& unsent) { return late(unsent); });
}

ReplicaExchange::Terms ReplicaExchange::Mixture(Vec own, double total, const Host& host) const {
  const Inbox& inbox = due();
  Terms terms;
  size_t place = 0;  // of the own one
  // Weights act in single precision. The own one takes up their rounding, so that they still sum
  // to 1 and the models do not drift over a million rounds.
  double rest = 1;
  for (size_t i = 0; i < inbox.slots.size(); ++i) {
    const Neighbour& neighbour = inbox.row.in[i];
    const Slot& slot = inbox.slots[i];
    const float weight = static_cast<float>(neighbour.weight * slot.weight / total);
    rest -= weight;
    terms.push_back({weight, Whole(slot.replica, host)});
    if (neighbour.rank < rank_) ++place;
  }
  terms.insert(terms.begin() + place, {rest, Whole(own, host)});
  return terms;
}

void ReplicaExchange::DropDue(Host& host) {
  for (const Slot& slot : due().slots) host.Drop(slot.replica);
}

std::vector<Waiting> ReplicaExchange::waiting(bool resting) const {
  std::vector<Waiting> waiting;
  for (const Unsent& unsent : unsent_) {
    if (resting || late(unsent)) waiting.push_back({unsent.to, ReplicaTag(unsent.round)});
  }
  const auto missing_in = [&](const Inbox& inbox) {
    for (size_t i = 0; i < inbox.slots.size(); ++i) {
      if (inbox.slots[i].arrived) continue;
      waiting.push_back({inbox.row.in[i].rank, ReplicaTag(inbox.round)});
    }
  };
  if (!resting) {
    missing_in(due());
  } else {
    for (const Inbox& inbox : inboxes_) missing_in(inbox);
  }
  return waiting;
}

std::vector<Rank> ReplicaExchange::Peers(Round from, Round to) const {
  const Topology& topology = mixing_->topology();
  // A graph with a period shows all its edges within one.
  if (topology.period() > 0) to = std::min(to, from + topology.period());
  std::set<Rank> peers;
  std::vector<Rank> neighbours;
  for (Round round = from; round < to; ++round) {
    topology.InNeighbours(rank_, round, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
    topology.OutNeighbours(rank_, round, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
