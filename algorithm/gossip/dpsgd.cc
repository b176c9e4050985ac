// D-PSGD: decentralized parallel SGD (Lian et al. 2017, arXiv:1705.09056, Algorithm 1), in both
// orders of step and average (local_sgd.h), with or without local steps between averages:
// X' = X W_k - lr U (AWC) or (X - lr U) W_k (ATC), with W_k = W in every H-th round and I in the
// others (Wang and Joshi 2018, arXiv:1808.07576). The average can be clipped.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithm/algorithm_kind.h"
#include "algorithm/gossip/neighbour_averaging.h"
#include "algorithm/local/local_sgd.h"
#include "base/status.h"

namespace grapevine {
namespace {

// The average of a node and its neighbours when some of them may send anything: clipped gossip (He,
// Karimireddy and Jaggi 2022, arXiv:2202.01545, algorithm 1 with a constant radius),
//
//   x_i' = x_i + sum_j W_ij clip(x_j - x_i),   clip(z) = z min(1, tau / |z|)
//
// No neighbour moves a node by more than W_ij tau in a round, whatever it sends. Where W is
// symmetric, what one node gains its neighbour gives up: honest nodes keep their mean.
class ClippedAveraging final : public NeighbourAveraging {
 public:
  // `radius` is tau, positive: the Euclidean norm of a difference of two replicas, buffers
  // included.
  ClippedAveraging(double radius, LocalSteps steps, const AlgorithmOptions& options)
      : NeighbourAveraging(steps, options), radius_(radius) {}

  // Puts the differences in the place of the neighbours' replicas.
  absl::StatusOr<Terms> Take(Host& host) override;

 private:
  const double radius_;
};

absl::StatusOr<Averaging::Terms> ClippedAveraging::Take(Host& host) {
  const Part own = host.Whole(this->own());
  Terms terms = Mixture(1, host);
  for (Term& term : terms) {
    if (term.part.vector == own.vector) {
      term.weight = 1;
      continue;
    }
    const Term difference[] = {{1, term.part}, {-1, own}};
    host.Combine(term.part, difference);
    host.Clip(term.part, radius_);
  }
  return terms;
}

constexpr int64_t kEveryRound = 1;
constexpr double kNoClip = 0;

struct Request {
  StepOrder order;
  LocalSteps steps;
  double clip;  // the radius of clipped gossip; 0: none
};

absl::StatusOr<Request> Read(const Spec& spec, const RunLength& length) {
  SpecReader reader(spec);
  const std::string order = reader.Choice("order", {"awc", "atc"});
  ASSIGN_OR_RETURN(const LocalSteps steps,
                   ReadLocalSteps(spec, reader, "local", kEveryRound, length));
  const double clip = reader.Real("clip", kNoClip, kNoClip);
  RETURN_IF_ERROR(reader.Finish());
  return Request{order == "atc" ? StepOrder::kAtc : StepOrder::kAwc, steps, clip};
}

std::unique_ptr<Averaging> MakeAveraging(const Request& request, const AlgorithmOptions& options) {
  if (request.clip == kNoClip) return std::make_unique<NeighbourAveraging>(request.steps, options);
  return std::make_unique<ClippedAveraging>(request.clip, request.steps, options);
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeDpsgd(const Spec& spec, AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const Request request, Read(spec, options.length));
  return std::make_unique<LocalSgd>(LocalSgdParts{.order = request.order,
                                                  .steps = request.steps,
                                                  .averaging = MakeAveraging(request, options)},
                                    std::move(options.learning_rate));
}

absl::StatusOr<double> Messages(const Spec& spec, const Topology& topology,
                                const RunLength& length) {
  ASSIGN_OR_RETURN(const Request request, Read(spec, length));
  return NeighbourMessages(topology) * request.steps.PerRound(length.rounds);
}

const Registration kDpsgd(Algorithms(),
                          {.name = "dpsgd",
                           .options = "[:order=atc][:local=H][:clip=TAU]",
                           .help = "D-PSGD: each node averages with its neighbours in the "
                                   "topology while it computes, or after it (atc); with local "
                                   "steps in every H-th round alone; with a clip, no "
                                   "neighbour moves it by more than a share of TAU",
                           .examples = {"dpsgd", "dpsgd:order=atc", "dpsgd:local=3",
                                        "dpsgd:order=atc:local=2", "dpsgd:clip=0.5",
                                        "dpsgd:order=atc:clip=2"},
                           .overlap = "D-PSGD sends while it computes",
                           .make = MakeDpsgd,
                           .resilient = [](const Spec&) { return true; },
                           .messages = Messages,
                           .advised = [](Rank) { return std::vector<std::string>{"dpsgd"}; }});

}  // namespace
}  // namespace grapevine
