#include "algorithm/gossip/dpsgd.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

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
    : order_(order), options_(std::move(options)), exchange_(options_, /*delay=*/0) {}

absl::Status Dpsgd::On(const Event& event, Host& host) {
  if (const auto* ready = std::get_if<GradientReady>(&event)) return OnGradient(*ready, host);
  if (const auto* limit = std::get_if<RoundLimit>(&event)) return OnLimit(*limit, host);
  if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(exchange_.OnReceived(*received).status());
    EndRoundIfComplete(host);
  } else if (const auto* left = std::get_if<Left>(&event)) {
    RETURN_IF_ERROR(exchange_.OnLeft(left->id, host));
    EndRoundIfComplete(host);
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(exchange_.OnSent(sent->id));
    RestIfDone(host);
  } else {
    RETURN_IF_ERROR(CheckForeseen(event));
    replica_ = host.InitialReplica(host.whole_replica());
    optimizer_state_ = host.NewOptimizerState(host.whole_replica());
    started_ = true;
    BeginRound(host);
  }
  return absl::OkStatus();
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

absl::Status Dpsgd::OnLimit(const RoundLimit& event, Host& host) {
  if (event.limit <= limit_) return absl::OkStatus();
  limit_ = event.limit;
  if (!started_) return absl::OkStatus();
  exchange_.PostAhead(round_, limit_, host);
  if (!in_round_) BeginRound(host);
  return absl::OkStatus();
}

void Dpsgd::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  exchange_.PostAhead(round_, limit_, host);
  in_round_ = true;
  gradient_ready_ = false;
  gradient_ = host.New(host.replica_size(), "the gradient");
  host.Gradient(replica_, gradient_, round_);
  if (order_ == DpsgdOrder::kAwc) Share(host);
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
  Share(host);
}

void Dpsgd::EndRoundIfComplete(Host& host) {
  if (!in_round_ || !gradient_ready_ || !exchange_.complete() || exchange_.Lagging()) return;
  const ReplicaExchange::Terms terms = exchange_.Mixture(replica_, /*total=*/1, host);
  Vec mixed;
  if (order_ == DpsgdOrder::kAwc) {
    mixed = StepOverGradient(terms, host);
  } else {
    mixed = host.New(host.replica_size(), "the mixed replica");
    host.Combine(Whole(mixed, host), terms);
  }
  exchange_.DropDue(host);
  host.Drop(std::exchange(replica_, mixed));
  in_round_ = false;
  ++round_;
  host.Boundary(round_, replica_);
  BeginRound(host);
}

void Dpsgd::RestIfDone(Host& host) {
  if (started_ && !in_round_ && round_ >= limit_ && exchange_.quiet()) host.Rest(replica_);
}

}  // namespace grapevine
