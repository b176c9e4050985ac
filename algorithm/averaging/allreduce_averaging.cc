#include "algorithm/averaging/allreduce_averaging.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/repeatable_sum.h"
#include "algorithm/local/averaging.h"
#include "algorithm/local/local_steps.h"
#include "algorithm/state_visitor.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr uint16_t kSumChannel = 1;

// The mean of all nodes' replicas by an allreduce, with the same bits on every node.
//
// The sum is made in place of the node's own replica, and takes no memory apart from the
// allreduce's scratch. Where the replica is still needed or shown, the sum is made in place of a
// copy. Where members may be lost, the replica must outlast a sum that comes to nothing; the sum is
// then made in a vector of its own, in no more time.
class AllreduceAveraging final : public Averaging {
 public:
  enum class Sum { kInPlace, kOfACopy };
  // Averages in the rounds of `steps`, at the node with `rank` among `nodes`.
  AllreduceAveraging(LocalSteps steps, AllreduceSchedules schedules, Rank rank, Rank nodes,
                     Sum place);

  void MayLoseMembers(Round latest) override { latest_ = latest; }
  void Start(Round round, Vec replica, Host& host) override;
  void VisitState(StateVisitor& state) override { sum_.VisitState(state); }
  // Does nothing: each sum posts for the next one.
  void PostAhead(Round limit, Host& host) override {}
  void Begin(Vec own, Host& host) override;
  absl::Status On(const Received& event, Host& host) override { return Forward(event, host); }
  absl::Status On(const Left& event, Host& host) override { return Forward(event, host); }
  absl::Status On(const Sent& event, Host& host) override { return Forward(event, host); }
  absl::Status On(const Lost& event, Host& host) override { return Forward(event, host); }
  absl::Status On(const Offered& event, Host& host) override { return Forward(event, host); }
  bool complete() const override { return known_.vector || (sum_.summed() && !sum_.behind()); }
  absl::StatusOr<Terms> Take(Host& host) override;
  Rank replicas() const override { return known_.vector ? known_.members : nodes_; }
  void End(Host& host) override;
  bool quiet() const override { return sum_.idle(); }
  std::vector<Waiting> waiting(bool resting) const override;
  // Returns all peers, also where no average is due: they are known, and few.
  std::vector<Rank> Peers(Round from, Round to) const override { return sum_.Peers(); }

  bool gives_way() const override { return true; }
  void GiveUp(Host& host) override;
  bool ended() const override { return sum_.ended(); }
  void Close(Host& host) override;

 private:
  template <typename MessageEvent>
  absl::Status Forward(const MessageEvent& event, Host& host);
  void BeginSum(Host& host);
  void TakeAnswer(Host& host);

  const LocalSteps steps_;
  const Rank nodes_;
  const Sum place_;
  RepeatableSum sum_;
  std::optional<Round> latest_;
  Round round_ = 0;  // the round of the next average
  bool given_up_ = false;
  Vec own_;             // this node's replica
  Vec data_;            // the sum
  bool apart_ = false;  // whether data_ is a vector of its own, which this average owns
  KeptSum known_;       // the sum that others have had
};

std::vector<AllreduceSchedules> Whole(AllreduceSchedules schedules) {
  std::vector<AllreduceSchedules> buckets;
  buckets.push_back(std::move(schedules));
  return buckets;
}

AllreduceAveraging::AllreduceAveraging(LocalSteps steps, AllreduceSchedules schedules, Rank rank,
                                       Rank nodes, Sum place)
    : steps_(steps),
      nodes_(nodes),
      place_(place),
      sum_(Whole(std::move(schedules)), kSumChannel, rank, nodes, steps) {}

void AllreduceAveraging::Start(Round round, Vec, Host& host) {
  round_ = steps_.RoundOf(steps_.Before(round));
  sum_.Start(host.replica_size(), round, latest_, host);
}

void AllreduceAveraging::Begin(Vec own, Host& host) {
  own_ = own;
  if (!sum_.behind()) return BeginSum(host);
  sum_.Ask(own, host);
  TakeAnswer(host);  // without other nodes, the answer is known at once
}

void AllreduceAveraging::TakeAnswer(Host& host) {
  const std::optional<KeptSum> answer = sum_.TakeAnswer(host);
  if (!answer) return;
  known_ = *answer;
  if (!known_.vector) BeginSum(host);
}

void AllreduceAveraging::BeginSum(Host& host) {
  const bool beside = (sum_.keeps() || sum_.later_in_place()) && nodes_ > 1;
  apart_ = beside || place_ == Sum::kOfACopy;
  if (place_ == Sum::kOfACopy) {
    data_ = CopyOf(own_, "the sum of the replicas", host);
    sum_.Begin(data_);
  } else if (beside) {
    data_ = host.New(host.replica_size(), "the sum of the replicas");
    sum_.Begin(own_, data_);
  } else {
    data_ = own_;
    sum_.Begin(data_);
  }
  sum_.OnReady(0, host);
}

template <typename MessageEvent>
absl::Status AllreduceAveraging::Forward(const MessageEvent& event, Host& host) {
  RETURN_IF_ERROR(sum_.On(event, host));
  if (!given_up_) TakeAnswer(host);
  return absl::OkStatus();
}

absl::StatusOr<Averaging::Terms> AllreduceAveraging::Take(Host& host) {
  const Vec sum = known_.vector ? known_.vector : data_;
  return Terms{{1.0 / replicas(), host.Whole(sum)}};
}

void AllreduceAveraging::End(Host& host) {
  if (known_.vector) {
    sum_.End(known_, host);
  } else if (apart_) {
    sum_.End({.vector = data_, .round = round_, .members = nodes_}, host);
  }
  known_ = {};
  apart_ = false;
  round_ = steps_.RoundOf(steps_.Before(round_ + 1));
}

void AllreduceAveraging::GiveUp(Host& host) {
  given_up_ = true;
  sum_.GiveUp(host);
}

void AllreduceAveraging::Close(Host& host) {
  if (known_.vector) host.Drop(known_.vector);
  if (apart_) host.Drop(data_);
  sum_.Close(host);
}

std::vector<Waiting> AllreduceAveraging::waiting(bool resting) const {
  // When the node rests and the sum is complete, these are the messages that its peers do not have.
  const bool asked = given_up_ || sum_.behind() || resting == sum_.summed();
  return asked ? sum_.waiting_for() : std::vector<Waiting>();
}

struct Request {
  AllreduceFactory allreduce;
  LocalSteps steps;
  std::unique_ptr<OuterStep> outer;
};

// The arguments that are left name the allreduce.
Spec WithEveryAsOption(Spec spec) {
  if (spec.arguments.empty()) return spec;
  const std::string& first = spec.arguments.front();
  if (first != "epoch" && first != "once") return spec;
  if (spec.options.emplace("every", first).second) spec.arguments.erase(spec.arguments.begin());
  return spec;
}

absl::StatusOr<Request> Read(const AveragingMethod& method, const Spec& written, Rank nodes,
                             const RunLength& length) {
  const Spec spec = WithEveryAsOption(written);
  SpecReader reader(spec);
  ASSIGN_OR_RETURN(AllreduceFactory allreduce, ReadAllreduce(spec, reader, nodes));
  ASSIGN_OR_RETURN(const LocalSteps steps,
                   ReadLocalSteps(spec, reader, "every", method.every, length));
  std::unique_ptr<OuterStep> outer = method.outer ? method.outer(reader, nodes) : nullptr;
  RETURN_IF_ERROR(reader.Finish());
  return Request{std::move(allreduce), steps, std::move(outer)};
}

absl::StatusOr<std::unique_ptr<Algorithm>> Make(const AveragingMethod& method, const Spec& spec,
                                                AlgorithmOptions options) {
  const Rank nodes = options.mixing->topology().size();
  ASSIGN_OR_RETURN(Request request, Read(method, spec, nodes, options.length));
  // While the gradient is computed at a replica, the replica cannot become the sum.
  const auto place = method.order == StepOrder::kAwc ? AllreduceAveraging::Sum::kOfACopy
                                                     : AllreduceAveraging::Sum::kInPlace;
  return std::make_unique<LocalSgd>(
      LocalSgdParts{.order = method.order,
                    .steps = request.steps,
                    .averaging = std::make_unique<AllreduceAveraging>(
                        request.steps, request.allreduce(options.rank), options.rank, nodes, place),
                    .outer = std::move(request.outer)},
      std::move(options.learning_rate));
}

}  // namespace

AlgorithmKind AveragingKind(AveragingMethod method, AlgorithmKind kind) {
  kind.centralized = true;
  kind.make = [method](const Spec& spec, AlgorithmOptions options) {
    return Make(method, spec, std::move(options));
  };
  kind.resilient = [](const Spec& spec) { return FitsAnySize(WithEveryAsOption(spec)); };
  kind.messages = [method](const Spec& spec, const Topology& topology,
                           const RunLength& length) -> absl::StatusOr<double> {
    ASSIGN_OR_RETURN(const Request request, Read(method, spec, topology.size(), length));
    return MessagesOfASum(request.allreduce, topology.size()) *
           request.steps.PerRound(length.rounds);
  };
  // The replica, the gradient, a sum that is still leaving and, for kAwc, the copy in which the
  // next sum is made.
  const int replicas = method.order == StepOrder::kAwc ? 4 : 3;
  kind.memory = [=, kept = method.outer_vectors](const Spec& spec, const Topology& topology,
                                                 int64_t size, int state_vectors) {
    return LargestScratch(WithEveryAsOption(spec), topology.size(), size) +
           (replicas + kept + state_vectors) * size;
  };
  return kind;
}

}  // namespace grapevine
