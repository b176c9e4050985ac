#include "algorithm/averaging/averaging_kind.h"

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "algorithm/allreduce/allreduce_kind.h"
#include "algorithm/allreduce/collective.h"
#include "algorithm/averaging/allreduce_averaging.h"
#include "algorithm/local/local_steps.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

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
