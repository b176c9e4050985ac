// EASGD and EAMSGD, synchronous: elastic averaging (elastic_centre.h). The replicas are summed by
// an allreduce while the gradients are computed at them, and every node moves its copy of the
// centre by the same bits: no server is needed.
//
// EAMSGD is EASGD whose local steps have Nesterov's momentum.
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "algorithm/averaging/averaging_kind.h"
#include "algorithm/local/elastic_centre.h"

namespace grapevine {
namespace {

std::unique_ptr<OuterStep> Elastic(SpecReader& reader, Rank nodes) {
  constexpr double kNone = -1;
  const double rho = reader.Real("rho", kNone, 0, std::numeric_limits<float>::max());
  return std::make_unique<ElasticCentre>(nodes, rho == kNone ? std::nullopt : std::optional(rho));
}

AlgorithmKind ElasticKind(AlgorithmKind kind) {
  kind.options = "[:rho=R][:every=1][:KIND]";
  kind.overlap = "EASGD sums replicas while it computes";
  return AveragingKind({.every = 1,
                        .order = StepOrder::kAwc,
                        .outer = Elastic,
                        .outer_vectors = ElasticCentre::kVectors},
                       std::move(kind));
}

const Registration kEasgd(
    Algorithms(),
    ElasticKind({.name = "easgd",
                 .help = "EASGD, synchronous: replicas and a centre pull at each other; "
                         "alpha = rho lr, by default 0.9/n",
                 .examples = {"easgd", "easgd:rho=0.8:every=3:tree"}}));

const Registration kEamsgd(Algorithms(),
                           ElasticKind({.name = "eamsgd",
                                        .help = "EASGD with Nesterov's momentum in the local steps "
                                                "(--optimizer=nesterov)",
                                        .examples = {"eamsgd:every=2"},
                                        .optimizer = "nesterov"}));

}  // namespace
}  // namespace grapevine
