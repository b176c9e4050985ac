#include "algorithm/gossip/neighbour_averaging.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/local/averaging.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr uint16_t kReplicaChannel = 0;

}  // namespace

NeighbourAveraging::NeighbourAveraging(LocalSteps steps, int64_t delay,
                                       const AlgorithmOptions& options)
    : steps_(steps),
      rank_(options.rank),
      mixing_(options.mixing),
      window_(options.window),
      delay_(delay),
      capacity_(options.window + delay),
      changing_(mixing_->topology().period() != 1),
      inboxes_(capacity_) {}

void NeighbourAveraging::Start(Round round, Vec replica, Host& host) {
  current_ = posted_ = steps_.Before(round);
  for (int64_t due = current_; due < current_ + delay_; ++due) FillInbox(due, replica, host);
}

Tag NeighbourAveraging::TagOf(int64_t index) const {
  return {kReplicaChannel, steps_.RoundOf(index), 0};
}

bool NeighbourAveraging::SameGraph(int64_t known, int64_t index) const {
  const Round period = mixing_->topology().period();
  return known >= 0 && period > 0 && (index - known) % period == 0;
}

NeighbourAveraging::Inbox& NeighbourAveraging::OpenInbox(int64_t due, int64_t index) {
  Inbox& inbox = Due(due);
  if (!SameGraph(inbox.index, index)) mixing_->Row(rank_, index, &inbox.row);
  inbox.index = index;
  inbox.slots.clear();
  return inbox;
}

void NeighbourAveraging::PostAhead(Round limit, Host& host) {
  const int64_t end = std::min(steps_.Before(limit), current_ + window_);
  for (; posted_ < end; ++posted_) {
    Post(&OpenInbox(posted_ + delay_, posted_), host);
  }
}

void NeighbourAveraging::Post(Inbox* inbox, Host& host) {
  const Credit credit = changing_ ? Credit::kInTurn : Credit::kAtOnce;
  const Round round = steps_.RoundOf(inbox->index + delay_);
  for (const Neighbour& neighbour : inbox->row.in) {
    const Vec replica = host.New(host.replica_size(), "a neighbour's replica");
    inbox->slots.push_back({.replica = replica});
    host.Post(neighbour.rank, TagOf(inbox->index), host.Whole(replica), round, credit);
  }
  inbox->missing = inbox->slots.size();
  missing_ += inbox->missing;
}

void NeighbourAveraging::FillInbox(int64_t due, Vec replica, Host& host) {
  Inbox& inbox = OpenInbox(due, SentFor(due));
  for (size_t i = 0; i < inbox.row.in.size(); ++i) {
    inbox.slots.push_back(
        {.replica = CopyOf(replica, "a neighbour's replica", host), .arrived = true});
  }
}

void NeighbourAveraging::Share(Vec replica, const Note& note, Host& host) {
  own_ = replica;
  note_ = note;
  SendOwn(host);
}

void NeighbourAveraging::SendOwn(Host& host) {
  held_ = changing_ && Lagging();
  if (held_) return;
  if (!SameGraph(readers_of_, current_)) {
    mixing_->topology().OutNeighbours(rank_, current_, &readers_);
    readers_of_ = current_;
  }
  for (const Rank peer : readers_) {
    const SendId id = host.Send(peer, TagOf(current_), host.Whole(own_), note_);
    unsent_.push_back({.id = id, .index = current_, .to = peer});
  }
}

NeighbourAveraging::Slot* NeighbourAveraging::Arrive(Rank sender, const Tag& tag) {
  for (int64_t index = std::max<int64_t>(0, current_ - delay_); index < posted_; ++index) {
    if (tag != TagOf(index)) continue;
    Inbox& inbox = Due(index + delay_);
    const auto from = std::ranges::lower_bound(inbox.row.in, sender, {}, &Neighbour::rank);
    if (from == inbox.row.in.end() || from->rank != sender) return nullptr;
    Slot& slot = inbox.slots[from - inbox.row.in.begin()];
    if (std::exchange(slot.arrived, true)) return nullptr;
    --inbox.missing;
    --missing_;
    return &slot;
  }
  return nullptr;
}

absl::StatusOr<NeighbourAveraging::Slot*> NeighbourAveraging::TakeIn(Rank from, const Tag& tag) {
  Slot* const slot = Arrive(from, tag);
  if (slot != nullptr) return slot;
  return absl::InternalError(absl::StrCat(
      "a replica of rank ", from, " for round ", tag.index,
      " came without a post; the next average is that of round ", steps_.RoundOf(current_)));
}

absl::Status NeighbourAveraging::On(const Received& event, Host&) {
  return TakeIn(event.from, event.tag).status();
}

absl::Status NeighbourAveraging::On(const Lost& event, Host&) {
  ASSIGN_OR_RETURN(Slot* const slot, TakeIn(event.from, event.tag));
  slot->weight = 0;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<NeighbourAveraging::Unsent>::iterator> NeighbourAveraging::Find(
    SendId id) {
  const auto sent = std::ranges::lower_bound(unsent_, id, {}, &Unsent::id);
  if (sent != unsent_.end() && sent->id == id) return sent;
  return absl::InternalError(
      absl::StrCat("send ", id.id, " was reported; no such replica is on its way"));
}

absl::Status NeighbourAveraging::On(const Left& event, Host& host) {
  ASSIGN_OR_RETURN(const auto left, Find(event.id));
  left->left = true;
  if (held_) SendOwn(host);
  return absl::OkStatus();
}

absl::Status NeighbourAveraging::On(const Sent& event, Host& host) {
  ASSIGN_OR_RETURN(const auto sent, Find(event.id));
  unsent_.erase(sent);
  if (held_) SendOwn(host);  // a replica whose receiver is lost may end without a Left
  return absl::OkStatus();
}

bool NeighbourAveraging::Lagging() const {
  return std::ranges::any_of(unsent_, [this](const Unsent& unsent) { return late(unsent); });
}

NeighbourAveraging::Terms NeighbourAveraging::Mixture(double total, const Host& host) const {
  const Inbox& inbox = due();
  Terms terms;
  size_t place = 0;  // position of the own replica
  // Weights act in single precision. The own replica's weight takes up their rounding, so that they
  // still sum to 1 and the models do not drift over a million rounds.
  double rest = 1;
  for (size_t i = 0; i < inbox.slots.size(); ++i) {
    const Neighbour& neighbour = inbox.row.in[i];
    const Slot& slot = inbox.slots[i];
    if (slot.weight == 0) continue;
    const float weight = static_cast<float>(neighbour.weight * slot.weight / total);
    rest -= weight;
    terms.push_back({weight, host.Whole(slot.replica)});
    if (neighbour.rank < rank_) ++place;
  }
  terms.insert(terms.begin() + place, {rest, host.Whole(own_)});
  return terms;
}

NeighbourAveraging::Terms NeighbourAveraging::TakeAll(Vec own, double own_weight, Host& host) {
  double total = own_weight;
  Terms terms;
  for (int64_t due = current_; due < current_ + delay_; ++due) {
    Inbox& inbox = Due(due);
    for (size_t i = 0; i < inbox.slots.size(); ++i) {
      const Slot& slot = inbox.slots[i];
      const double weight = inbox.row.in[i].weight * slot.weight;
      if (weight == 0) {
        host.Drop(slot.replica);
        continue;
      }
      total += weight;
      terms.push_back({weight, host.Whole(slot.replica)});
    }
    inbox.slots.clear();
  }
  double rest = 1;  // as in Mixture
  for (Term& term : terms) {
    term.weight = static_cast<float>(term.weight / total);
    rest -= term.weight;
  }
  terms.push_back({rest, host.Whole(own)});
  return terms;
}

void NeighbourAveraging::End(Host& host) {
  for (const Slot& slot : due().slots) host.Drop(slot.replica);
  ++current_;
}

std::vector<Waiting> NeighbourAveraging::waiting(bool resting) const {
  std::vector<Waiting> waiting;
  for (const Unsent& unsent : unsent_) {
    if (resting || late(unsent)) waiting.push_back({unsent.to, TagOf(unsent.index)});
  }
  const auto missing_in = [&](const Inbox& inbox) {
    for (size_t i = 0; i < inbox.slots.size(); ++i) {
      if (inbox.slots[i].arrived) continue;
      waiting.push_back({inbox.row.in[i].rank, TagOf(inbox.index)});
    }
  };
  if (!resting) {
    missing_in(due());
  } else {
    for (const Inbox& inbox : inboxes_) missing_in(inbox);
  }
  return waiting;
}

std::vector<Rank> NeighbourAveraging::Peers(Round from, Round to) const {
  const Topology& topology = mixing_->topology();
  const int64_t first = steps_.Before(from);
  int64_t end = steps_.Before(to);
  // A graph with a period shows all its edges within one.
  if (topology.period() > 0) end = std::min(end, first + topology.period());
  std::set<Rank> peers;
  std::vector<Rank> neighbours;
  for (int64_t index = first; index < end; ++index) {
    topology.InNeighbours(rank_, index, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
    topology.OutNeighbours(rank_, index, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
