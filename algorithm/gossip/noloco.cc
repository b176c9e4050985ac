// NoLoCo: local steps, and an outer step over neighbours instead of an allreduce (Kolehmainen et
// al. 2025, arXiv:2506.10911), with replicas p and anchors a:
//   m <- beta m + eta avg(p - a) + gamma (avg(a) - a);  a <- a + m;  p <- a
// avg is the average of a node and its neighbours, which is a pair where the graph is a matching.
// The nodes share one vector, p + (gamma / eta - 1) a, from which both averages are made.
#include <limits>
#include <memory>
#include <utility>

#include "algorithm/algorithm_kind.h"
#include "algorithm/gossip/neighbour_averaging.h"
#include "algorithm/local/local_sgd.h"
#include "algorithm/local/outer_step.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr int64_t kEvery = 50;
constexpr double kSmallestRate = 1e-6, kLargestRate = std::numeric_limits<float>::max();

struct Request {
  LocalSteps steps;
  OuterRule outer;
};

absl::StatusOr<Request> Read(const Spec& spec, const RunLength& length) {
  SpecReader reader(spec);
  ASSIGN_OR_RETURN(const LocalSteps steps, ReadLocalSteps(spec, reader, "every", kEvery, length));
  const double momentum = reader.Real("momentum", 0.5, 0, 1);
  const double rate = reader.Real("lr", 0.7, kSmallestRate, kLargestRate);
  const double pull = reader.Real("pull", rate, 0, kLargestRate);
  RETURN_IF_ERROR(reader.Finish());
  const OuterCoefficients step{.keep = momentum,
                               .anchor_to_momentum = -pull,
                               .average_to_momentum = rate,
                               .anchor_to_anchor = 1,
                               .momentum_to_anchor = 1};
  return Request{steps,
                 {.step = [step](double) { return step; }, .anchor_in_share = pull / rate - 1}};
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeNoLoCo(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(Request request, Read(spec, options.length));
  return std::make_unique<LocalSgd>(
      LocalSgdParts{.steps = request.steps,
                    .averaging = std::make_unique<NeighbourAveraging>(request.steps, options),
                    .outer = std::make_unique<OuterOptimizer>(std::move(request.outer))},
      std::move(options.learning_rate));
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology,
                                const RunLength& length) {
  ASSIGN_OR_RETURN(const Request request, Read(spec, length));
  return NeighbourMessages(topology) * request.steps.PerRound(length.rounds);
}

absl::StatusOr<int64_t> Memory(const Spec&, const Topology& topology, int64_t size,
                               int state_vectors) {
  return NeighbourMemory(topology, size, state_vectors) + OuterOptimizer::kVectors * size;
}

const Registration kNoLoCo(
    Algorithms(),
    {.name = "noloco",
     .options = "[:every=50][:momentum=0.5][:lr=0.7][:pull=0.7]",
     .help = "NoLoCo: local steps, and every so many rounds an outer step with momentum over "
             "neighbours; over pairs with --topology=random-matching",
     .examples = {"noloco:every=3", "noloco:every=2:momentum=0.3:lr=0.5:pull=0.9"},
     .make = MakeNoLoCo,
     .resilient = [](const Spec&) { return true; },
     .messages = Messages,
     .memory = Memory});

}  // namespace
}  // namespace grapevine
