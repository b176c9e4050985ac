#include "algorithm/averaging/allreduce_averaging.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/collective.h"
#include "algorithm/local/averaging.h"
#include "algorithm/local/local_steps.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr uint16_t kSumChannel = 1;

// The mean of all nodes' replicas by an allreduce, the same bits on every node.
//
// The sum is made in place of the node's own replica, and takes no memory beside the allreduce's
// scratch; or in place of a copy, where the replica is still needed or shown.
class AllreduceAveraging final : public Averaging {
 public:
  enum class Sum { kInPlace, kOfACopy };
  // In the rounds of `steps`, of `nodes`.
  AllreduceAveraging(LocalSteps steps, AllreduceSchedules schedules, Rank nodes, Sum place);

  void Start(Round round, Vec replica, Host& host) override;
  // Each sum posts for the next one.
  void PostAhead(Round limit, Host& host) override {}
  void Begin(Vec own, Host& host) override;
  absl::Status On(const Received& event, Host& host) override { return sum_.On(event, host); }
  absl::Status On(const Left& event, Host& host) override { return sum_.On(event, host); }
  absl::Status On(const Sent& event, Host& host) override { return sum_.On(event, host); }
  bool complete() const override { return sum_.summed(); }
  absl::StatusOr<Terms> Take(Host& host) override;
  void End(Host& host) override;
  bool quiet() const override { return sum_.idle(); }
  std::vector<Waiting> waiting(bool resting) const override;
  // Also where no average is due: they are known, and few.
  std::vector<Rank> Peers(Round from, Round to) const override { return sum_.Peers(); }

 private:
  const Rank nodes_;
  const Sum place_;
  BucketedSum sum_;
  Vec data_;  // what is summed
};

std::vector<AllreduceSchedules> Whole(AllreduceSchedules schedules) {
  std::vector<AllreduceSchedules> buckets;
  buckets.push_back(std::move(schedules));
  return buckets;
}

AllreduceAveraging::AllreduceAveraging(LocalSteps steps, AllreduceSchedules schedules, Rank nodes,
                                       Sum place)
    : nodes_(nodes), place_(place), sum_(Whole(std::move(schedules)), kSumChannel, steps) {}

void AllreduceAveraging::Start(Round round, Vec, Host& host) {
  sum_.Prepare(host.replica_size(), host, round);
}

void AllreduceAveraging::Begin(Vec own, Host& host) {
  data_ = place_ == Sum::kOfACopy ? CopyOf(own, "the sum of the replicas", host) : own;
  sum_.Begin(data_);
  sum_.OnReady(0, host);
}

absl::StatusOr<Averaging::Terms> AllreduceAveraging::Take(Host& host) {
  return Terms{{1.0 / nodes_, host.Whole(data_)}};
}

void AllreduceAveraging::End(Host& host) {
  if (place_ == Sum::kOfACopy) host.Drop(data_);
}

std::vector<Waiting> AllreduceAveraging::waiting(bool resting) const {
  // Of a sum that is complete, those messages that its peers do not have.
  return resting == sum_.summed() ? sum_.waiting_for() : std::vector<Waiting>();
}

struct Request {
  AllreduceFactory allreduce;
  LocalSteps steps;
  std::unique_ptr<OuterStep> outer;
};

// What is left of the arguments names the allreduce.
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
  // While the gradient is computed at a replica, it cannot become the sum.
  const auto place = method.order == StepOrder::kAwc ? AllreduceAveraging::Sum::kOfACopy
                                                     : AllreduceAveraging::Sum::kInPlace;
  return std::make_unique<LocalSgd>(
      LocalSgdParts{.order = method.order,
                    .steps = request.steps,
                    .averaging = std::make_unique<AllreduceAveraging>(
                        request.steps, request.allreduce(options.rank), nodes, place),
                    .outer = std::move(request.outer)},
      std::move(options.learning_rate));
}

}  // namespace

AlgorithmKind AveragingKind(AveragingMethod method, AlgorithmKind kind) {
  kind.centralized = true;
  kind.make = [method](const Spec& spec, AlgorithmOptions options) {
    return Make(method, spec, std::move(options));
  };
  kind.messages = [method](const Spec& spec, const Topology& topology,
                           const RunLength& length) -> absl::StatusOr<double> {
    ASSIGN_OR_RETURN(const Request request, Read(method, spec, topology.size(), length));
    return MessagesOfASum(request.allreduce, topology.size()) *
           request.steps.PerRound(length.rounds);
  };
  // The replica, the gradient, a sum that is still leaving, and the copy of which the next is made.
  const int replicas = method.order == StepOrder::kAwc ? 4 : 3;
  kind.memory = [=, kept = method.outer_vectors](const Spec&, const Topology& topology,
                                                 int64_t size, int state_vectors) {
    return (LargestScratch(topology.size()) + replicas + kept + state_vectors) * size;
  };
  return kind;
}

}  // namespace grapevine
