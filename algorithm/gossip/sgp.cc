#include "algorithm/gossip/sgp.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

// A node with less steps a million million times too far.
constexpr double kLeastWeight = 1e-12;
// The weights of all nodes sum to n, up to rounding.
constexpr double kRounding = 1 + 1e-6;

constexpr Round kMaxOverlap = 64;

absl::StatusOr<Round> OverlapOf(const Spec& spec) {
  SpecReader reader(spec);
  const Round overlap = reader.Integer("overlap", 0, 0, kMaxOverlap);
  RETURN_IF_ERROR(reader.Finish());
  return overlap;
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeSgp(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Round overlap, OverlapOf(spec));
  return std::make_unique<Sgp>(overlap, std::move(options));
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
     .memory = Memory});

}  // namespace

Sgp::Sgp(Round overlap, AlgorithmOptions options)
    : overlap_(overlap), options_(std::move(options)), exchange_(options_, overlap) {}

absl::Status Sgp::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) return OnReceived(*received, host);
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) return OnLimit(*limit, host);
  if (const auto* left = std::get_if<Left>(&event)) {
    RETURN_IF_ERROR(exchange_.OnLeft(left->id, host));
    return EndRoundIfComplete(host);
  }
  if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(exchange_.OnSent(sent->id));
    RestIfDone(host);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(CheckForeseen(event));
  OnStart(host);
  return absl::OkStatus();
}

double Sgp::InitialWeight(Rank rank) const {
  double shares = 1;
  MixingRow row;
  for (Round round = 0; round < overlap_; ++round) {
    options_.mixing->Row(rank, round, &row);
    shares += 1 - row.self;
  }
  return 1 / shares;
}

void Sgp::OnStart(Host& host) {
  model_ = host.InitialReplica(host.whole_replica());
  weight_ = InitialWeight(options_.rank);
  optimizer_state_ = host.NewOptimizerState(host.whole_replica());
  for (Round round = 0; round < overlap_; ++round) {
    ReplicaExchange::Inbox& inbox = exchange_.FillInbox(round, model_, host);
    for (size_t i = 0; i < inbox.slots.size(); ++i) {
      inbox.slots[i].weight = InitialWeight(inbox.row.in[i].rank);
    }
  }
  started_ = true;
  BeginRound(host);
}

absl::Status Sgp::OnReceived(const Received& event, Host& host) {
  ASSIGN_OR_RETURN(ReplicaExchange::Slot* const slot, exchange_.OnReceived(event));
  slot->weight = event.note.weight;
  const Rank nodes = options_.mixing->topology().size();
  if (!(slot->weight > 0 && slot->weight <= nodes * kRounding)) {
    return absl::InternalError(absl::StrCat("the replica of rank ", event.from, " for round ",
                                            event.tag.index, " has a push-sum weight of ",
                                            slot->weight, ", which is not between 0 and ", nodes));
  }
  if (in_round_) return EndRoundIfComplete(host);
  RestIfDone(host);
  return absl::OkStatus();
}

absl::Status Sgp::OnGradient(const GradientReady& event, Host& host) {
  if (!in_round_ || gradient_ready_ || event.round != round_) {
    return absl::InternalError(absl::StrCat("a gradient of round ", event.round,
                                            " came without a request in round ", round_));
  }
  gradient_ready_ = true;
  StepAndShare(host);
  return EndRoundIfComplete(host);
}

absl::Status Sgp::OnLimit(const RoundLimit& event, Host& host) {
  if (event.limit <= limit_) return absl::OkStatus();
  limit_ = event.limit;
  if (!started_) return absl::OkStatus();
  exchange_.PostAhead(round_, limit_, host);
  if (!in_round_) BeginRound(host);
  return absl::OkStatus();
}

void Sgp::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  exchange_.PostAhead(round_, limit_, host);
  in_round_ = true;
  gradient_ready_ = false;
  gradient_ = host.New(host.replica_size(), "the gradient");
  host.Gradient(model_, gradient_, round_);
}

// The stepped model takes the gradient's place.
void Sgp::StepAndShare(Host& host) {
  const Vec stepped = std::exchange(gradient_, Vec{});
  const Term own{1.0, Whole(model_, host)};
  host.Step({.range = host.whole_replica(),
             .out = stepped,
             .mix = {&own, 1},
             .own = model_,
             .gradient = stepped,
             .state = optimizer_state_,
             .step = round_,
             .learning_rate = options_.learning_rate(round_) / weight_});
  host.Drop(std::exchange(model_, stepped));
  exchange_.Share(model_, {.weight = weight_}, host);
}

absl::Status Sgp::EndRoundIfComplete(Host& host) {
  if (!in_round_ || !gradient_ready_ || !exchange_.complete() || exchange_.Lagging()) {
    return absl::OkStatus();
  }
  const ReplicaExchange::Inbox& due = exchange_.due();
  double weight = exchange_.row().self * weight_;
  for (size_t i = 0; i < due.slots.size(); ++i) {
    weight += due.row.in[i].weight * due.slots[i].weight;
  }
  if (!(weight >= kLeastWeight)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "sgp: in round ", round_, " the push-sum weight of rank ", options_.rank, " has fallen to ",
        weight, ": too little reaches it on ", options_.mixing->topology().name(), " with ",
        options_.mixing->name(), "; add edges to it, from nodes that send to few"));
  }
  const Vec mixed = host.New(host.replica_size(), "the mixed replica");
  host.Combine(Whole(mixed, host), exchange_.Mixture(model_, weight, host));
  weight_ = weight;
  exchange_.DropDue(host);
  host.Drop(std::exchange(model_, mixed));
  in_round_ = false;
  ++round_;
  host.Boundary(round_, model_);
  BeginRound(host);
  return absl::OkStatus();
}

void Sgp::RestIfDone(Host& host) {
  if (started_ && !in_round_ && round_ >= limit_ && exchange_.quiet()) host.Rest(model_);
}

}  // namespace grapevine
