#include "algorithm/local/local_sgd.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

LocalSgd::LocalSgd(LocalSgdParts parts, LearningRate learning_rate)
    : parts_(std::move(parts)), learning_rate_(std::move(learning_rate)) {}

absl::Status LocalSgd::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(parts_.averaging->On(*received, host));
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    RETURN_IF_ERROR(OnGradient(*ready, host));
  } else if (const auto* left = std::get_if<Left>(&event)) {
    RETURN_IF_ERROR(parts_.averaging->On(*left, host));
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(parts_.averaging->On(*sent, host));
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    RETURN_IF_ERROR(parts_.averaging->On(*lost, host));
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    OnLimit(*limit, host);
  } else if (const auto* start = std::get_if<Start>(&event)) {
    RETURN_IF_ERROR(OnStart(*start, host));
  } else if (const auto* offered = std::get_if<Offered>(&event)) {
    RETURN_IF_ERROR(parts_.averaging->On(*offered, host));
  } else {
    RETURN_IF_ERROR(CheckForeseen(event));
  }
  if (given_up_) {
    RestIfGivenUp(host);
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(EndRoundIfComplete(host));
  RestIfDone(host);
  return absl::OkStatus();
}

void LocalSgd::GiveUp(Host& host) {
  given_up_ = true;
  parts_.averaging->GiveUp(host);
  RestIfGivenUp(host);
}

Vec LocalSgd::Settle(Vec, Host& host) {
  const Averaging::Terms mix = parts_.averaging->Settle(replica_, host);
  if (mix.empty()) return replica_;
  const Vec mixed = host.New(host.replica_size(), "the mixed replica");
  host.Combine(host.Whole(mixed), mix);
  for (const Term& term : mix) host.Drop(term.part.vector);
  return replica_ = mixed;
}

void LocalSgd::RestIfGivenUp(Host& host) {
  const bool computes = in_round_ && !gradient_ready_;
  if (computes || !parts_.averaging->ended()) return;
  if (gradient_) host.Drop(std::exchange(gradient_, Vec{}));
  parts_.averaging->Close(host);
  host.Rest(replica_);
}

absl::Status LocalSgd::OnStart(const Start& event, Host& host) {
  round_ = event.round;
  replica_ = host.InitialReplica(host.whole_replica());
  optimizer_.Start(host.whole_replica(), round_, host);
  if (event.latest) parts_.averaging->MayLoseMembers(*event.latest);
  parts_.averaging->Start(round_, replica_, host);
  if (parts_.outer) parts_.outer->Start(replica_, host);
  if (event.state != nullptr) RETURN_IF_ERROR(VisitState(*event.state, host));
  started_ = true;
  BeginRound(host);
  return absl::OkStatus();
}

absl::Status LocalSgd::VisitState(StateVisitor& state, Host& host) {
  state.Vector("replica", replica_);
  optimizer_.VisitState(state);
  parts_.averaging->VisitState(state);
  if (parts_.outer) parts_.outer->VisitState(state, host);
  state.Stepped(&stepped_);
  return absl::OkStatus();
}

absl::Status LocalSgd::OnGradient(const GradientReady& event, Host& host) {
  if (!in_round_ || gradient_ready_ || event.round != round_) {
    return absl::InternalError(absl::StrCat("a gradient of round ", event.round,
                                            " came without a request in round ", round_));
  }
  gradient_ready_ = true;
  if (given_up_ || (exchanges() && parts_.order == StepOrder::kAwc)) return absl::OkStatus();
  StepAlone(host);
  if (!exchanges()) return absl::OkStatus();
  if (parts_.outer) parts_.outer->Prepare(replica_, host);
  stepped_ = true;
  parts_.averaging->Begin(replica_, host);
  return absl::OkStatus();
}

void LocalSgd::OnLimit(const RoundLimit& event, Host& host) {
  if (event.limit <= limit_) return;
  limit_ = event.limit;
  if (!started_ || given_up_) return;
  parts_.averaging->PostAhead(limit_, host);
  if (!in_round_) BeginRound(host);
}

void LocalSgd::BeginRound(Host& host) {
  if (round_ >= limit_) return;
  parts_.averaging->PostAhead(limit_, host);
  in_round_ = true;
  gradient_ready_ = stepped_;  // the last view's instance stepped, and gave up the round
  if (stepped_) return parts_.averaging->Begin(replica_, host);
  gradient_ = host.New(host.replica_size(), "the gradient");
  host.Gradient(replica_, gradient_, round_);
  if (exchanges() && parts_.order == StepOrder::kAwc) parts_.averaging->Begin(replica_, host);
}

Vec LocalSgd::StepOverGradient(std::span<const Term> mix, Host& host) {
  const Vec stepped = std::exchange(gradient_, Vec{});
  host.Step({.range = host.whole_replica(),
             .out = stepped,
             .mix = mix,
             .own = replica_,
             .gradient = stepped,
             .state = optimizer_.vector(),
             .step = optimizer_.StepIn(round_),
             .learning_rate = StepSize()});
  return stepped;
}

void LocalSgd::StepAlone(Host& host) {
  const Term own{1.0, host.Whole(replica_)};
  const Vec stepped = StepOverGradient({&own, 1}, host);
  host.Drop(std::exchange(replica_, stepped));
}

absl::Status LocalSgd::EndRoundIfComplete(Host& host) {
  if (!in_round_ || !gradient_ready_) return absl::OkStatus();
  if (exchanges()) {
    if (!parts_.averaging->complete()) return absl::OkStatus();
    RETURN_IF_ERROR(TakeAverage(host));
  }
  stepped_ = false;
  in_round_ = false;
  ++round_;
  host.Boundary(round_, replica_);
  BeginRound(host);
  return absl::OkStatus();
}

absl::Status LocalSgd::TakeAverage(Host& host) {
  ASSIGN_OR_RETURN(const Averaging::Terms average, parts_.averaging->Take(host));
  const double rate = StepSize();
  if (parts_.outer && parts_.averaging->replicas() > 0) {
    parts_.outer->Among(parts_.averaging->replicas());
  }
  const Averaging::Terms mix =
      parts_.outer ? parts_.outer->Replace(replica_, average, rate, host) : average;
  Vec mixed;
  if (parts_.order == StepOrder::kAwc) {
    mixed = StepOverGradient(mix, host);
  } else {
    mixed = host.New(host.replica_size(), "the mixed replica");
    host.Combine(host.Whole(mixed), mix);
  }
  if (parts_.outer) parts_.outer->End(average, rate, host);
  parts_.averaging->End(host);
  host.Drop(std::exchange(replica_, mixed));
  return absl::OkStatus();
}

void LocalSgd::RestIfDone(Host& host) {
  const bool done = started_ && !in_round_ && round_ >= limit_;
  if (done && parts_.averaging->quiet()) host.Rest(replica_);
}

std::vector<Waiting> LocalSgd::waiting_for() const {
  if (in_round_ && !exchanges() && !given_up_) return {};
  return parts_.averaging->waiting(!in_round_);
}

}  // namespace grapevine
