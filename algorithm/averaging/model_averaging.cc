// Local steps between exact averages of all replicas, by any allreduce: model averaging, and the
// outer optimizers SlowMo and DiLoCo.
//
//   average  x <- mean_r x_r (McDonald et al. 2010; local SGD, Stich 2019, arXiv:1805.09767)
//   slowmo   u <- beta u + (a - mean_r x_r) / lr; x <- a - alpha lr u
//            (Wang et al. 2020, arXiv:1910.00643, Algorithm 1)
//   diloco   D = a - mean_r x_r; m <- beta m + D; x <- a - eta (D + beta m)
//            (Douillard et al. 2023, arXiv:2311.08105: Nesterov)
// where a is x after the last exchange.
#include <limits>
#include <memory>

#include "algorithm/averaging/allreduce_averaging.h"
#include "algorithm/local/outer_step.h"

namespace grapevine {
namespace {

constexpr double kLargestRate = std::numeric_limits<float>::max();

// If the rate is 0, nodes have not moved, and the average is what it was.
std::unique_ptr<OuterStep> SlowMo(SpecReader& reader, Rank) {
  const double momentum = reader.Real("momentum", 0.7, 0, 1);
  const double rate = reader.Real("lr", 1.0, 0, kLargestRate);
  return std::make_unique<OuterOptimizer>(OuterRule{.step = [=](double gamma) -> OuterCoefficients {
    if (gamma == 0) return {.keep = 1, .average_to_anchor = 1};
    return {.keep = momentum,
            .anchor_to_momentum = 1 / gamma,
            .average_to_momentum = -1 / gamma,
            .anchor_to_anchor = 1,
            .momentum_to_anchor = -rate * gamma};
  }});
}

std::unique_ptr<OuterStep> DiLoCo(SpecReader& reader, Rank) {
  const double momentum = reader.Real("momentum", 0.9, 0, 1);
  const double rate = reader.Real("lr", 0.7, 0, kLargestRate);
  return std::make_unique<OuterOptimizer>(OuterRule{.step = [=](double) -> OuterCoefficients {
    return {.keep = momentum,
            .anchor_to_momentum = 1,
            .average_to_momentum = -1,
            .anchor_to_anchor = 1 - rate,
            .average_to_anchor = rate,
            .momentum_to_anchor = -rate * momentum};
  }});
}

const Registration kAverage(
    Algorithms(),
    AveragingKind({.every = 8},
                  {.name = "average",
                   .options = "[:every=8|epoch|once][:KIND]",
                   .help = "model averaging: local steps, and every so many rounds, every epoch "
                           "or once at the end the mean of all replicas, by any allreduce",
                   .examples = {"average:every=3", "average:once", "average:epoch:tree",
                                "average:every=5:halving-doubling"}}));

const Registration kSlowMo(
    Algorithms(),
    AveragingKind({.every = 12, .outer = SlowMo, .outer_vectors = OuterOptimizer::kVectors},
                  {.name = "slowmo",
                   .options = "[:every=12][:momentum=0.7][:lr=1][:KIND]",
                   .help = "SlowMo: model averaging with a slow momentum over the averages",
                   .examples = {"slowmo:every=3",
                                "slowmo:every=2:momentum=0.5:lr=0.5:double-tree"}}));

const Registration kDiLoCo(
    Algorithms(),
    AveragingKind({.every = 50, .outer = DiLoCo, .outer_vectors = OuterOptimizer::kVectors},
                  {.name = "diloco",
                   .options = "[:every=50][:momentum=0.9][:lr=0.7][:KIND]",
                   .help = "DiLoCo: model averaging with an outer Nesterov step on what the "
                           "local steps changed on average",
                   .examples = {"diloco:every=3", "diloco:every=4:momentum=0:lr=1"}}));

}  // namespace
}  // namespace grapevine
