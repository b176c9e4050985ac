// SGP: stochastic gradient push (Assran et al. 2019, arXiv:1811.10792, Algorithm 1; overlap:
// appendix), in which a node takes a step and then a push-sum average.
//
// On a directed graph a node can determine how much of its replica each receiver takes, so that the
// columns of P sum to 1, but not how much these receivers take of other replicas: the rows do not
// sum to 1. Therefore a node has x_i and a weight w_i that goes the same way, and its model is the
// quotient z_i:
//
//   x_i' = sum_j P_ij (x_j - lr u(g_j(z_j))),  w_i' = sum_j P_ij w_j,  z_i = x_i / w_i.
//
// The sums of all x_i (but for gradients) and of all w_i are kept, and every z_i goes to their
// quotient, the mean. Where P is doubly stochastic all w_i stay 1: D-PSGD's ATC, with its bits.
//
// A node keeps and sends z, beside w, rather than x = w z:
//
//   y_i = z_i - (lr / w_i) u(g_i(z_i)),  z_i' = sum_j (P_ij w_j / w_i') y_j,
//
// which is the same rule with weights that sum to 1. So it takes no more memory than D-PSGD and no
// pass to divide, batch-norm statistics are averaged convexly, and a small w_i costs no precision.
// w travels in the note of a message.
//
// With an overlap of t rounds, replicas of round r are mixed in round r + t: a node goes on without
// the replicas of the last t rounds. Each replica counts once, in its round, so that the order of
// events changes no bit. What is in flight has its share of the weight, w_i is smaller by that
// share, and the sums include it. A run begins as if the initial model had been in flight: every
// node's weight and those of its t messages sum to 1. (If it began with nothing in flight, a node
// would have given most of its weight away before any came back, and lr / w would explode.) What is
// in flight at a boundary is part of the state of the node that is to receive it.
//
// Memory: (t + 1) times the largest in-degree of neighbours' replicas, t + 1 of the node's own that
// may still be on their way, and three: model, gradient, optimizer's state.
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/gossip/neighbour_averaging.h"
#include "algorithm/local/local_sgd.h"
#include "base/status.h"

namespace grapevine {
namespace {

class PushSumAveraging final : public NeighbourAveraging {
 public:
  // Averages in every round; `overlap` is in rounds.
  PushSumAveraging(Round overlap, AlgorithmOptions options);

  void Start(Round round, Vec replica, Host& host) override;
  void VisitState(StateVisitor& state) override;
  void Begin(Vec own, Host& host) override { Share(own, {.weight = weight_}, host); }
  using NeighbourAveraging::On;
  absl::Status On(const Received& event, Host& host) override;
  absl::StatusOr<Terms> Take(Host& host) override;
  void End(Host& host) override;
  Terms Settle(Vec replica, Host& host) override {
    return overlap_ > 0 ? TakeAll(replica, weight_, host) : Terms();
  }

  // Returns w_i.
  double weight() const override { return weight_; }

 private:
  // Returns w of a rank at a start in `round`.
  double InitialWeight(Rank rank, Round round) const;
  // Returns w_i'.
  double NextWeight() const;

  const Round overlap_;
  const AlgorithmOptions options_;
  double weight_ = 1;
};

// The least weight of a node: with less, it steps a million million times too far.
constexpr double kLeastWeight = 1e-12;
// The weights of all nodes sum to n, up to this factor, which allows for rounding.
constexpr double kRounding = 1 + 1e-6;

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
    const Slot& slot = due().slots[i];
    // A lost replica, whose place the node's own takes, counts with the node's own weight. Without
    // it, a node whose neighbours are lost would step three times as far in each round until the
    // view that follows.
    weight += due().row.in[i].weight * (slot.weight == 0 ? weight_ : slot.weight);
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

constexpr Round kMaxOverlap = 64;

absl::StatusOr<Round> OverlapOf(const Spec& spec) {
  SpecReader reader(spec);
  const Round overlap = reader.Integer("overlap", 0, 0, kMaxOverlap);
  RETURN_IF_ERROR(reader.Finish());
  return overlap;
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeSgp(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Round overlap, OverlapOf(spec));
  LearningRate learning_rate = options.learning_rate;
  return std::make_unique<LocalSgd>(
      LocalSgdParts{.averaging = std::make_unique<PushSumAveraging>(overlap, std::move(options))},
      std::move(learning_rate));
}

absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  ASSIGN_OR_RETURN(const Round overlap, OverlapOf(spec));
  return ((overlap + 1) * (LargestInDegree(topology) + 1) + 2 + state_vectors) * size;
}

const Registration kSgp(
    Algorithms(),
    {.name = "sgp",
     .options = "[:overlap=0]",
     .help = "stochastic gradient push: push-sum averages, on directed graphs too; with overlap "
             "replicas may be so many rounds late",
     .examples = {"sgp", "sgp:overlap=1", "sgp:overlap=3"},
     .weights = {Stochastic::kDoubly, Stochastic::kColumns},
     .make = MakeSgp,
     .resilient = [](const Spec&) { return true; },
     .memory = Memory});

}  // namespace
}  // namespace grapevine
