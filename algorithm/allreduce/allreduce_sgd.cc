#include "algorithm/allreduce/allreduce_sgd.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr uint16_t kFirstBucketChannel = 1;

}  // namespace

AllreduceSgd::AllreduceSgd(BucketedSum::Schedules schedules, AlgorithmOptions options)
    : sum_(std::move(schedules), kFirstBucketChannel), options_(std::move(options)) {}

absl::Status AllreduceSgd::On(const Event& event, Host& host) {
  absl::Status status;
  if (const auto* received = std::get_if<Received>(&event)) {
    status = sum_.On(*received, host);
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    status = sum_.On(*sent, host);
    RestIfDone(host);
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    status = OnGradient(*ready, host);
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    const bool moved = limit->limit > limit_;
    limit_ = std::max(limit_, limit->limit);
    if (started_ && moved && !in_round_) BeginRound(host);
  } else {
    OnStart(host);
  }
  if (status.ok()) EndRoundIfSummed(host);
  return status;
}

void AllreduceSgd::OnStart(Host& host) {
  replica_ = host.InitialReplica(host.whole_replica());
  optimizer_state_ = host.NewOptimizerState(host.whole_replica());
  sum_.Prepare(host.replica_size(), host);
  started_ = true;
  BeginRound(host);
}

void AllreduceSgd::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  in_round_ = true;
  gradient_ = host.New(host.replica_size(), "the gradient");
  ready_from_ = host.replica_size();
  sum_.Begin(gradient_);
  host.Gradient(replica_, gradient_, round_, sum_.cuts());
}

absl::Status AllreduceSgd::OnGradient(const GradientReady& event, Host& host) {
  if (!in_round_ || event.round != round_ || event.from >= ready_from_ || event.from < 0) {
    return absl::InternalError(absl::StrCat("a gradient of round ", event.round, " from element ",
                                            event.from, " on came unasked in round ", round_));
  }
  ready_from_ = event.from;
  sum_.OnReady(ready_from_, host);
  return absl::OkStatus();
}

void AllreduceSgd::EndRoundIfSummed(Host& host) {
  if (!in_round_ || ready_from_ > 0 || !sum_.summed()) return;
  const Vec next = host.New(host.replica_size(), "the stepped replica");
  const Term own{1.0, {replica_, 0, host.replica_size()}};
  host.Step({.range = host.whole_replica(),
             .out = next,
             .mix = {&own, 1},
             .own = replica_,
             .gradient = gradient_,
             .state = optimizer_state_,
             .learning_rate = options_.learning_rate(round_),
             .gradient_scale = 1.0 / options_.mixing->topology().size()});
  host.Drop(std::exchange(gradient_, Vec{}));
  host.Drop(std::exchange(replica_, next));
  in_round_ = false;
  ++round_;
  host.Boundary(round_, replica_);
  BeginRound(host);
}

void AllreduceSgd::RestIfDone(Host& host) {
  if (started_ && !in_round_ && round_ >= limit_ && sum_.idle()) host.Rest(replica_);
}

std::vector<Rank> AllreduceSgd::Peers(Round, Round) const { return sum_.Peers(); }

}  // namespace grapevine
