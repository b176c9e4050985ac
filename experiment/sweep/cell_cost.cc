#include "experiment/sweep/cell_cost.h"

#include <memory>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "model/problem/problem_kind.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// A node's gradient, in messages: an event, or a network's arithmetic.
double GradientCost(const Config& config) { return SeesData(config.model()) ? 1000 : 1; }

// In proportion: an epoch has a number of samples that the cells have in common.
double Rounds(const Config& config) {
  if (config.has_rounds()) return static_cast<double>(config.rounds());
  constexpr double kSamples = 1e5;
  return config.epochs() * kSamples / (static_cast<double>(config.nodes()) * config.batch());
}

}  // namespace

double CellCost(const Config& config) {
  constexpr double kRefused = 1e-3;
  const absl::StatusOr<std::shared_ptr<const Topology>> topology =
      MakeTopology(config.topology(), config.nodes(), config.seed());
  if (!topology.ok()) return kRefused;
  const absl::StatusOr<double> messages = MessagesPerRound(config.algorithm(), **topology);
  if (!messages.ok()) return kRefused;
  return kRefused + Rounds(config) * (*messages + config.nodes() * GradientCost(config));
}

}  // namespace grapevine
