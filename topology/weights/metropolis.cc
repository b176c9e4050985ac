// metropolis and uniform: W_ij = 1/(1 + max(d_i, d_j)) (Metropolis-Hastings;
// Xiao, Boyd and Kim 2007), which is 1/(d + 1) where the degrees are equal.
//
// Thread-safety: immutable.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "topology/weights/equal_degrees.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

class Metropolis final : public Mixing {
 public:
  Metropolis(std::string name, std::shared_ptr<const Topology> topology)
      : name_(std::move(name)), topology_(std::move(topology)) {}

  std::string name() const override { return name_; }
  const Topology& topology() const override { return *topology_; }

  void Row(Rank rank, Round round, MixingRow* row) const override {
    // Simulators ask for a row of a million nodes in every round.
    static thread_local std::vector<Rank> neighbours;
    topology_->InNeighbours(rank, round, &neighbours);
    const Rank degree = static_cast<Rank>(neighbours.size());
    row->self = 1;
    row->in.clear();
    for (Rank neighbour : neighbours) {
      const double weight = 1.0 / (1 + std::max(degree, topology_->Degree(neighbour, round)));
      row->in.push_back({neighbour, weight});
      row->self -= weight;
    }
    // Where all weights are 1/(d + 1), rounding must not take from the node's own share.
    if (degree > 0) row->self = std::max(row->self, 1.0 / (1 + degree));
  }

  std::optional<std::complex<double>> Eigenvalue(Rank k, Round round) const override {
    return topology_->MetropolisEigenvalue(k, round);
  }

 private:
  const std::string name_;
  const std::shared_ptr<const Topology> topology_;
};

// Where edges go one way, weights by degree are doubly stochastic only if all degrees are equal.
absl::Status CheckDirected(const Spec& spec, const Topology& topology) {
  const auto unequal = topology.directed() ? FindUnequalDegrees(topology) : std::nullopt;
  if (!unequal) return absl::OkStatus();
  const auto [edge, round] = *unequal;
  return SpecError(spec.text,
                   absl::StrCat("on ", topology.name(), ", a directed graph, node ", edge.from,
                                " has ", topology.Degree(edge.from, round), " in- and ",
                                topology.OutDegree(edge.from, round), " out-neighbours, and node ",
                                edge.to, ", to which it sends, ", topology.Degree(edge.to, round),
                                " and ", topology.OutDegree(edge.to, round),
                                ": the mean of the replicas would drift; use out-degree, with "
                                "--algorithm=sgp"));
}

absl::StatusOr<std::shared_ptr<const Mixing>> MakeMetropolis(
    const Spec& spec, std::shared_ptr<const Topology> topology) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  RETURN_IF_ERROR(CheckDirected(spec, *topology));
  return std::make_shared<Metropolis>("metropolis", std::move(topology));
}

// Makes Metropolis-Hastings weights under the name "uniform". Refuses a graph in which two
// neighbours differ in degree.
absl::StatusOr<std::shared_ptr<const Mixing>> MakeUniform(
    const Spec& spec, std::shared_ptr<const Topology> topology) {
  RETURN_IF_ERROR(SpecReader(spec).Finish());
  RETURN_IF_ERROR(CheckDirected(spec, *topology));
  if (const auto unequal = FindUnequalDegrees(*topology)) {
    const auto [edge, round] = *unequal;
    return SpecError(
        "uniform", absl::StrCat("on ", topology->name(), " node ", edge.to, " has degree ",
                                topology->Degree(edge.to, round), " and its neighbour ", edge.from,
                                " has ", topology->Degree(edge.from, round),
                                ": columns would not sum to 1; use metropolis"));
  }
  return std::make_shared<Metropolis>("uniform", std::move(topology));
}

const Registration kMetropolis(Mixings(), {.name = "metropolis",
                                           .help = "1/(1 + the larger degree)",
                                           .examples = {"metropolis"},
                                           .make = MakeMetropolis});

const Registration kUniform(Mixings(),
                            {.name = "uniform",
                             .help = "1/(degree + 1), where neighbours have equal degrees",
                             .examples = {"uniform"},
                             .make = MakeUniform});

}  // namespace
}  // namespace grapevine
