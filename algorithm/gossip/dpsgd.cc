#include "algorithm/gossip/dpsgd.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

constexpr uint16_t kReplicaChannel = 0;

Tag ReplicaTag(Round round) { return {kReplicaChannel, round, 0}; }

// Weights act in single precision. The own one takes up their rounding, so that
// a row still sums to 1 and the mean does not drift over a million rounds.
void RoundWeights(MixingRow* row) {
  row->self = 1;
  for (Neighbour& neighbour : row->in) {
    neighbour.weight = static_cast<float>(neighbour.weight);
    row->self -= neighbour.weight;
  }
}

Part Whole(Vec vector, const Host& host) { return {vector, 0, host.replica_size()}; }

absl::StatusOr<std::unique_ptr<Algorithm>> MakeDpsgd(const Spec& spec, AlgorithmOptions options) {
  SpecReader reader(spec);
  const std::string order = reader.Choice("order", {"awc", "atc"});
  RETURN_IF_ERROR(reader.Finish());
  return std::make_unique<Dpsgd>(order == "atc" ? DpsgdOrder::kAtc : DpsgdOrder::kAwc,
                                 std::move(options));
}

const Registration kDpsgd(Algorithms(),
                          {.name = "dpsgd",
                           .options = "[:order=atc]",
                           .help = "D-PSGD: each node averages with its neighbours in the "
                                   "topology while it computes, or after it (atc)",
                           .examples = {"dpsgd", "dpsgd:order=atc"},
                           .overlap = "D-PSGD sends while it computes",
                           .make = MakeDpsgd,
                           .advised = [](Rank) { return std::vector<std::string>{"dpsgd"}; }});

}  // namespace

Dpsgd::Dpsgd(DpsgdOrder order, AlgorithmOptions options)
    : order_(order),
      options_(std::move(options)),
      changing_(options_.mixing->topology().period() != 1) {}

absl::Status Dpsgd::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (const auto* left = std::get_if<Left>(&event)) return OnLeft(*left, host);
  if (const auto* sent = std::get_if<Sent>(&event)) return OnSent(*sent, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) return OnLimit(*limit, host);
  replica_ = host.InitialReplica(host.whole_replica());
  optimizer_state_ = host.NewOptimizerState(host.whole_replica());
  started_ = true;
  BeginRound(host);
  return absl::OkStatus();
}

absl::Status Dpsgd::OnReceived(const Received& event, Host& host) {
  const Round round = event.tag.index;
  if (round >= round_ && round < posted_ && event.tag == ReplicaTag(round)) {
    Inbox& inbox = InboxOf(round);
    const auto from = std::ranges::lower_bound(inbox.row.in, event.from, {}, &Neighbour::rank);
    Slot* const slot = from != inbox.row.in.end() && from->rank == event.from
                           ? &inbox.slots[from - inbox.row.in.begin()]
                           : nullptr;
    if (slot != nullptr && !slot->arrived) {
      slot->arrived = true;
      --inbox.missing;
      EndRoundIfComplete(host);
      return absl::OkStatus();
    }
  }
  return absl::InternalError(absl::StrCat("a replica of rank ", event.from, " for round ",
                                          event.tag.index, " came without a post in round ",
                                          round_));
}

absl::Status Dpsgd::OnGradient(const GradientReady& event, Host& host) {
  if (!in_round_ || gradient_ready_ || event.round != round_) {
    return absl::InternalError(absl::StrCat("a gradient of round ", event.round,
                                            " came without a request in round ", round_));
  }
  gradient_ready_ = true;
  if (order_ == DpsgdOrder::kAtc) AdaptBeforeCombine(host);
  EndRoundIfComplete(host);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Dpsgd::Unsent>::iterator> Dpsgd::Find(SendId id) {
  const auto sent = std::ranges::lower_bound(unsent_, id, {}, &Unsent::id);
  if (sent != unsent_.end() && sent->id == id) return sent;
  return absl::InternalError(absl::StrCat("send ", id.id, " was reported in round ", round_,
                                          "; no such replica is on its way"));
}

absl::Status Dpsgd::OnLeft(const Left& event, Host& host) {
  ASSIGN_OR_RETURN(const auto left, Find(event.id));
  left->left = true;
  if (share_due_) ShareReplica(host);
  EndRoundIfComplete(host);
  return absl::OkStatus();
}

absl::Status Dpsgd::OnSent(const Sent& event, Host& host) {
  ASSIGN_OR_RETURN(const auto sent, Find(event.id));
  unsent_.erase(sent);
  RestIfDone(host);
  return absl::OkStatus();
}

bool Dpsgd::Lagging() const {
  return std::ranges::any_of(
      unsent_, [this](const Unsent& sent) { return sent.round < round_ && !sent.left; });
}

absl::Status Dpsgd::OnLimit(const RoundLimit& event, Host& host) {
  if (event.limit <= limit_) return absl::OkStatus();
  limit_ = event.limit;
  if (!started_) return absl::OkStatus();
  PostAhead(host);
  if (!in_round_) BeginRound(host);
  return absl::OkStatus();
}

bool Dpsgd::SameGraph(Round known, Round round) const {
  const Round period = options_.mixing->topology().period();
  return known >= 0 && period > 0 && (round - known) % period == 0;
}

void Dpsgd::PostAhead(Host& host) {
  for (; posted_ < std::min(limit_, round_ + options_.window); ++posted_) {
    if (posted_ < options_.window) inboxes_.emplace_back();
    Inbox& inbox = InboxOf(posted_);
    if (!SameGraph(inbox.round, posted_)) {
      options_.mixing->Row(options_.rank, posted_, &inbox.row);
      RoundWeights(&inbox.row);
    }
    inbox.round = posted_;
    Post(&inbox, host);
  }
}

void Dpsgd::Post(Inbox* inbox, Host& host) {
  const Credit credit = changing_ ? Credit::kInTurn : Credit::kAtOnce;
  inbox->slots.clear();
  for (const Neighbour& neighbour : inbox->row.in) {
    const Vec replica = host.New(host.replica_size(), "a neighbour's replica");
    inbox->slots.push_back({.replica = replica, .arrived = false});
    host.Post(neighbour.rank, ReplicaTag(inbox->round), Whole(replica, host), inbox->round, credit);
  }
  inbox->missing = inbox->slots.size();
}

void Dpsgd::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  PostAhead(host);
  in_round_ = true;
  gradient_ready_ = false;
  gradient_ = host.New(host.replica_size(), "the gradient");
  host.Gradient(replica_, gradient_, round_);
  if (order_ == DpsgdOrder::kAwc) ShareReplica(host);
}

void Dpsgd::ShareReplica(Host& host) {
  share_due_ = changing_ && Lagging();
  if (share_due_) return;
  if (!SameGraph(readers_round_, round_)) {
    options_.mixing->topology().OutNeighbours(options_.rank, round_, &readers_);
    readers_round_ = round_;
  }
  for (Rank peer : readers_) {
    const SendId id = host.Send(peer, ReplicaTag(round_), Whole(replica_, host));
    unsent_.push_back({.id = id, .round = round_, .to = peer});
  }
}

// The new replica takes the gradient's place: a vector less at the peak.
Vec Dpsgd::StepOverGradient(std::span<const Term> mix, Host& host) {
  const Vec stepped = std::exchange(gradient_, Vec{});
  host.Step({.range = host.whole_replica(),
             .out = stepped,
             .mix = mix,
             .own = replica_,
             .gradient = stepped,
             .state = optimizer_state_,
             .step = round_,
             .learning_rate = options_.learning_rate(round_)});
  return stepped;
}

void Dpsgd::AdaptBeforeCombine(Host& host) {
  const Term own{1.0, Whole(replica_, host)};
  const Vec adapted = StepOverGradient({&own, 1}, host);
  host.Drop(std::exchange(replica_, adapted));
  ShareReplica(host);
}

Dpsgd::Terms Dpsgd::MixTerms(const Host& host) const {
  const Inbox& inbox = InboxOf(round_);
  const Term own{inbox.row.self, Whole(replica_, host)};
  Terms terms;
  bool own_placed = false;
  for (size_t i = 0; i < inbox.row.in.size(); ++i) {
    if (!own_placed && inbox.row.in[i].rank > options_.rank) {
      terms.push_back(own);
      own_placed = true;
    }
    terms.push_back({inbox.row.in[i].weight, Whole(inbox.slots[i].replica, host)});
  }
  if (!own_placed) terms.push_back(own);
  return terms;
}

void Dpsgd::EndRoundIfComplete(Host& host) {
  if (!in_round_ || !gradient_ready_ || InboxOf(round_).missing > 0 || Lagging()) return;
  const Terms terms = MixTerms(host);
  Vec mixed;
  if (order_ == DpsgdOrder::kAwc) {
    mixed = StepOverGradient(terms, host);
  } else {
    mixed = host.New(host.replica_size(), "the mixed replica");
    host.Combine(Whole(mixed, host), terms);
  }
  for (const Slot& slot : InboxOf(round_).slots) host.Drop(slot.replica);
  host.Drop(std::exchange(replica_, mixed));
  in_round_ = false;
  ++round_;
  host.Boundary(round_, replica_);
  BeginRound(host);
}

void Dpsgd::RestIfDone(Host& host) {
  if (started_ && !in_round_ && round_ >= limit_ && unsent_.empty()) host.Rest(replica_);
}

std::vector<Waiting> Dpsgd::waiting_for() const {
  std::vector<Waiting> waiting;
  for (const Unsent& sent : unsent_) {
    const bool awaited = in_round_ ? sent.round < round_ && !sent.left : round_ >= limit_;
    if (awaited) waiting.push_back({sent.to, ReplicaTag(sent.round)});
  }
  if (!in_round_) return waiting;
  const Inbox& inbox = InboxOf(round_);
  for (size_t i = 0; i < inbox.row.in.size(); ++i) {
    if (!inbox.slots[i].arrived) waiting.push_back({inbox.row.in[i].rank, ReplicaTag(inbox.round)});
  }
  return waiting;
}

std::vector<Rank> Dpsgd::Peers(Round from, Round to) const {
  const Topology& topology = options_.mixing->topology();
  // A graph with a period shows all its edges within one.
  if (topology.period() > 0) to = std::min(to, from + topology.period());
  std::set<Rank> peers;
  std::vector<Rank> neighbours;
  for (Round round = from; round < to; ++round) {
    topology.InNeighbours(options_.rank, round, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
    topology.OutNeighbours(options_.rank, round, &neighbours);
    peers.insert(neighbours.begin(), neighbours.end());
  }
  return {peers.begin(), peers.end()};
}

}  // namespace grapevine
