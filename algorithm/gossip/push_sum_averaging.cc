#include "algorithm/gossip/push_sum_averaging.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// A node with less steps a million million times too far.
constexpr double kLeastWeight = 1e-12;
// The weights of all nodes sum to n, up to rounding.
constexpr double kRounding = 1 + 1e-6;

}  // namespace

PushSumAveraging::PushSumAveraging(Round overlap, AlgorithmOptions options)
    : NeighbourAveraging(LocalSteps(), overlap, options),
      overlap_(overlap),
      options_(std::move(options)) {}

double PushSumAveraging::InitialWeight(Rank rank, Round round) const {
  double shares = 1;
  MixingRow row;
  for (Round due = round; due < round + overlap_; ++due) {
    options_.mixing->Row(rank, SentFor(due), &row);
    shares += 1 - row.self;
  }
  return 1 / shares;
}

void PushSumAveraging::Start(Round round, Vec replica, Host& host) {
  NeighbourAveraging::Start(round, replica, host);
  weight_ = InitialWeight(options_.rank, round);
  for (Round due = round; due < round + overlap_; ++due) {
    Inbox& inbox = Due(due);
    for (size_t i = 0; i < inbox.slots.size(); ++i) {
      inbox.slots[i].weight = InitialWeight(inbox.row.in[i].rank, round);
    }
  }
}

void PushSumAveraging::VisitState(StateVisitor& state) {
  state.Weight("push_sum.weight", &weight_);
  for (Round due = current(); due < current() + overlap_; ++due) {
    Inbox& inbox = Due(due);
    for (size_t i = 0; i < inbox.slots.size(); ++i) {
      Slot& slot = inbox.slots[i];
      const Rank from = inbox.row.in[i].rank;
      state.Message(absl::StrCat("push_sum.due_", due, ".from_", from), {.from = from,
                                                                         .tag = TagOf(SentFor(due)),
                                                                         .arrived = slot.arrived,
                                                                         .vector = slot.replica,
                                                                         .weight = &slot.weight});
    }
  }
}

absl::Status PushSumAveraging::On(const Received& event, Host&) {
  ASSIGN_OR_RETURN(Slot* const slot, TakeIn(event.from, event.tag));
  slot->weight = event.note.weight;
  const Rank nodes = options_.mixing->topology().size();
  if (slot->weight > 0 && slot->weight <= nodes * kRounding) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("the replica of rank ", event.from, " for round ",
                                          event.tag.index, " has a push-sum weight of ",
                                          slot->weight, ", which is not between 0 and ", nodes));
}

double PushSumAveraging::NextWeight() const {
  double weight = row().self * weight_;
  for (size_t i = 0; i < due().slots.size(); ++i) {
    weight += due().row.in[i].weight * due().slots[i].weight;
  }
  return weight;
}

absl::StatusOr<Averaging::Terms> PushSumAveraging::Take(Host& host) {
  const double weight = NextWeight();
  if (weight >= kLeastWeight) return Mixture(weight, host);
  return absl::FailedPreconditionError(absl::StrCat(
      "sgp: in round ", current(), " the push-sum weight of rank ", options_.rank,
      " has fallen to ", weight, ": too little reaches it on ", options_.mixing->topology().name(),
      " with ", options_.mixing->name(), "; add edges to it, from nodes that send to few"));
}

void PushSumAveraging::End(Host& host) {
  weight_ = NextWeight();
  NeighbourAveraging::End(host);
}

}  // namespace grapevine
