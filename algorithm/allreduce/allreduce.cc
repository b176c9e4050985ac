// Registers allreduce SGD by name: any kind of allreduce, whole or in buckets.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/repeatable_sum.h"
#include "algorithm/local/local_optimizer.h"
#include "base/status.h"

namespace grapevine {

namespace {

// Allreduce SGD: x' = x - lr u((1/n) sum_j g_j(x)), with the same x on every node.
//
// This is the baseline of the field. Any kind of allreduce sums the gradients, whole or in buckets
// that leave while the backward pass goes on. Batch statistics are averaged along with them.
//
// A sum takes every member. When some are lost, the round under way is given up, and the members of
// the view that follows do it again. A member that has the round's sum nevertheless gives it to
// those that do not (repeatable_sum.h).
class AllreduceSgd final : public Algorithm {
 public:
  // `buckets` holds the schedules of each bucket.
  AllreduceSgd(std::vector<AllreduceSchedules> buckets, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  absl::Status VisitState(StateVisitor& state, Host& host) override;
  bool gives_way() const override { return true; }
  void GiveUp(Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override { return sum_.waiting_for(); }
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  absl::Status OnStart(const Start& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  void OnLimit(const RoundLimit& event, Host& host);
  // Does what an event has made possible.
  void Advance(Host& host);
  void BeginRound(Host& host);
  void EndRoundIfSummed(Host& host);
  // Returns the vector of this round's sum, complete or not. Drops the gradient if it is another
  // vector.
  Vec TakeSum(Host& host);
  // Steps along `sum`, and ends the round.
  void EndRound(const KeptSum& sum, Host& host);
  // Takes the answer, if this node is behind and it has come: ends the round with the others' sum,
  // or does the round again.
  void CatchUpIfAnswered(Host& host);
  void RestIfDone(Host& host);
  void RestIfGivenUp(Host& host);
  Rank members() const { return options_.mixing->topology().size(); }

  const AlgorithmOptions options_;
  RepeatableSum sum_;

  Vec replica_;
  Vec gradient_;
  Vec summed_;  // none where the sum is made in place of the gradient
  OptimizerState optimizer_;

  Round round_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool in_round_ = false;
  int64_t ready_from_ = 0;  // this round's gradient is final from here on; its size when nothing is
  bool given_up_ = false;
};

constexpr uint16_t kFirstBucketChannel = 1;

AllreduceSgd::AllreduceSgd(std::vector<AllreduceSchedules> buckets, AlgorithmOptions options)
    : options_(std::move(options)),
      sum_(std::move(buckets), kFirstBucketChannel, options_.rank, members()) {}

absl::Status AllreduceSgd::On(const Event& event, Host& host) {
  if (const auto* received = std::get_if<Received>(&event)) {
    RETURN_IF_ERROR(sum_.On(*received, host));
  } else if (const auto* left = std::get_if<Left>(&event)) {
    RETURN_IF_ERROR(sum_.On(*left, host));
  } else if (const auto* sent = std::get_if<Sent>(&event)) {
    RETURN_IF_ERROR(sum_.On(*sent, host));
    RestIfDone(host);
  } else if (const auto* ready = std::get_if<GradientReady>(&event)) {
    RETURN_IF_ERROR(OnGradient(*ready, host));
  } else if (const auto* limit = std::get_if<RoundLimit>(&event)) {
    OnLimit(*limit, host);
  } else if (const auto* start = std::get_if<Start>(&event)) {
    RETURN_IF_ERROR(OnStart(*start, host));
  } else if (const auto* lost = std::get_if<Lost>(&event)) {
    RETURN_IF_ERROR(sum_.On(*lost, host));
  } else if (const auto* offered = std::get_if<Offered>(&event)) {
    RETURN_IF_ERROR(sum_.On(*offered, host));
    RestIfDone(host);
  } else {
    RETURN_IF_ERROR(CheckForeseen(event));
  }
  Advance(host);
  return absl::OkStatus();
}

void AllreduceSgd::Advance(Host& host) {
  if (given_up_) return RestIfGivenUp(host);
  CatchUpIfAnswered(host);
  EndRoundIfSummed(host);
}

void AllreduceSgd::OnLimit(const RoundLimit& event, Host& host) {
  const bool moved = event.limit > limit_;
  limit_ = std::max(limit_, event.limit);
  if (started_ && moved && !in_round_ && !sum_.behind() && !given_up_) BeginRound(host);
}

absl::Status AllreduceSgd::OnStart(const Start& event, Host& host) {
  round_ = event.round;
  replica_ = host.InitialReplica(host.whole_replica());
  optimizer_.Start(host.whole_replica(), round_, host);
  sum_.Start(host.replica_size(), round_, event.latest, host);
  if (event.state != nullptr) RETURN_IF_ERROR(VisitState(*event.state, host));
  started_ = true;
  if (sum_.behind()) {
    sum_.Ask(replica_, host);
  } else {
    BeginRound(host);
  }
  return absl::OkStatus();
}

absl::Status AllreduceSgd::VisitState(StateVisitor& state, Host&) {
  state.Vector("replica", replica_);
  optimizer_.VisitState(state);
  sum_.VisitState(state);
  return absl::OkStatus();
}

void AllreduceSgd::BeginRound(Host& host) {
  if (round_ >= limit_) {
    RestIfDone(host);
    return;
  }
  in_round_ = true;
  gradient_ = host.New(host.replica_size(), "the gradient");
  ready_from_ = host.replica_size();
  if (sum_.later_in_place()) {
    summed_ = host.New(host.replica_size(), "the sum of the gradients");
    sum_.Begin(gradient_, summed_);
  } else {
    sum_.Begin(gradient_);
  }
  host.Gradient(replica_, gradient_, round_, sum_.cuts());
}

absl::Status AllreduceSgd::OnGradient(const GradientReady& event, Host& host) {
  if (!in_round_ || event.round != round_ || event.from >= ready_from_ || event.from < 0) {
    return absl::InternalError(absl::StrCat("a gradient of round ", event.round, " from element ",
                                            event.from, " on came without a request in round ",
                                            round_));
  }
  ready_from_ = event.from;
  if (!given_up_) sum_.OnReady(ready_from_, host);
  return absl::OkStatus();
}

void AllreduceSgd::EndRoundIfSummed(Host& host) {
  if (!in_round_ || ready_from_ > 0 || !sum_.summed()) return;
  EndRound({.vector = TakeSum(host), .round = round_, .members = members()}, host);
  BeginRound(host);
}

Vec AllreduceSgd::TakeSum(Host& host) {
  const Vec gradient = std::exchange(gradient_, Vec{});
  if (!summed_) return gradient;
  host.Drop(gradient);
  return std::exchange(summed_, Vec{});
}

void AllreduceSgd::EndRound(const KeptSum& sum, Host& host) {
  const Vec next = host.New(host.replica_size(), "the stepped replica");
  const Term own{1.0, host.Whole(replica_)};
  host.Step({.range = host.whole_replica(),
             .out = next,
             .mix = {&own, 1},
             .own = replica_,
             .gradient = sum.vector,
             .state = optimizer_.vector(),
             .step = optimizer_.StepIn(round_),
             .learning_rate = options_.learning_rate(round_),
             .gradient_scale = 1.0 / sum.members});
  sum_.End(sum, host);
  host.Drop(std::exchange(replica_, next));
  in_round_ = false;
  ++round_;
  host.Boundary(round_, replica_);
}

void AllreduceSgd::CatchUpIfAnswered(Host& host) {
  const std::optional<KeptSum> sum = sum_.TakeAnswer(host);
  if (!sum) return;
  if (sum->vector) EndRound(*sum, host);
  BeginRound(host);
}

void AllreduceSgd::GiveUp(Host& host) {
  given_up_ = true;
  sum_.GiveUp(host);
  RestIfGivenUp(host);
}

void AllreduceSgd::RestIfDone(Host& host) {
  if (given_up_ || sum_.behind() || !started_ || in_round_ || round_ < limit_) return;
  if (sum_.idle()) host.Rest(replica_);
}

void AllreduceSgd::RestIfGivenUp(Host& host) {
  const bool computes = in_round_ && ready_from_ > 0;
  if (computes || !sum_.ended()) return;
  if (gradient_) host.Drop(TakeSum(host));
  sum_.Close(host);
  host.Rest(replica_);
}

std::vector<Rank> AllreduceSgd::Peers(Round, Round) const { return sum_.Peers(); }

// The most sums at the same time. Each posts up to Collective::kMaxAhead messages ahead, and a
// transport has a bound for the posts of one peer.
constexpr int64_t kMaxSums = 32;

struct Request {
  AllreduceFactory make;
  int64_t buckets;
};

absl::StatusOr<Request> Read(const Spec& spec, Rank size) {
  SpecReader reader(spec);
  ASSIGN_OR_RETURN(AllreduceFactory make, ReadAllreduce(spec, reader, size));
  const auto parts = static_cast<int64_t>(make(0).size());
  const int64_t buckets = reader.Integer("buckets", 1, 1, kMaxSums / parts);
  RETURN_IF_ERROR(reader.Finish());
  return Request{std::move(make), buckets};
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAllreduce(const Spec& spec,
                                                         AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Request request, Read(spec, options.mixing->topology().size()));
  std::vector<AllreduceSchedules> buckets;
  for (int64_t i = 0; i < request.buckets; ++i) buckets.push_back(request.make(options.rank));
  return std::make_unique<AllreduceSgd>(std::move(buckets), std::move(options));
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology, const RunLength&) {
  ASSIGN_OR_RETURN(const Request request, Read(spec, topology.size()));
  return static_cast<double>(request.buckets) * MessagesOfASum(request.make, topology.size());
}

absl::StatusOr<int64_t> Memory(const Spec& spec, const Topology& topology, int64_t size,
                               int state_vectors) {
  return LargestScratch(spec, topology.size(), size) + (3 + state_vectors) * size;
}

// Each kind is advised whole, and in buckets beside the backward pass, as a gossip exchange runs
// beside the gradient. The default kind comes first, since it is chosen among kinds that are equal,
// as on two ranks.
std::vector<std::string> Advised(Rank) {
  std::vector<std::string> specs;
  const auto add = [&specs](const std::string& kind) {
    specs.push_back(absl::StrCat("allreduce:", kind));
    specs.push_back(absl::StrCat("allreduce:", kind, ":buckets=4"));
  };
  add(std::string(kDefaultAllreduce));
  for (const Listing& kind : Allreduces().Listings()) {
    if (kind.name != kDefaultAllreduce) add(kind.name);
  }
  return specs;
}

const Registration kAllreduce(
    Algorithms(),
    {.name = "allreduce",
     .options = "[:KIND][:buckets=B]",
     .help = "gradients are summed over all nodes; with buckets, while the gradient is computed",
     .examples = {"allreduce:buckets=3", "allreduce:tree:buckets=2"},
     .variants = [] { return Allreduces().Listings(); },
     .centralized = true,
     .overlap = "allreduce with buckets while the backward pass goes on",
     .make = MakeAllreduce,
     .resilient = FitsAnySize,
     .messages = Messages,
     .memory = Memory,
     .advised = Advised});

}  // namespace
}  // namespace grapevine
