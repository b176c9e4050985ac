// The mixing matrix W of a round: how much each neighbour's replica weighs.
//
// x_i <- sum_j W_ij x_j (D-PSGD, arXiv:1705.09056, Algorithm 1). Every matrix
// here is doubly stochastic, so that averaging keeps the mean of the replicas.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_MIXING_H_
#define GRAPEVINE_TOPOLOGY_MIXING_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace grapevine {

struct Neighbour {
  Rank rank;
  double weight;
};

// One row of W: what `rank` computes in a round.
struct MixingRow {
  double self = 1;
  std::vector<Neighbour> in;  // ascending rank
};

class Mixing {
 public:
  virtual ~Mixing() = default;
  // The canonical spec: "metropolis", "uniform", "lazy:metropolis", "file:PATH".
  virtual std::string name() const = 0;
  virtual const Topology& topology() const = 0;
  // Replaces the contents of `row`.
  virtual void Row(Rank rank, Round round, MixingRow* row) const = 0;
};

// Weights for `topology` by `spec`: "metropolis" (Metropolis-Hastings, the
// default), "uniform" (1/(d+1); regular graphs only), "lazy:SPEC" ((I+W)/2),
// "file:PATH" (an explicit matrix). Time-varying one-peer schedules and
// matchings weigh both sides 1/2 under every rule. A matrix that is not doubly
// stochastic is refused by name of the row or column and its sum.
absl::StatusOr<std::shared_ptr<const Mixing>> MakeMixing(
    std::string_view spec, std::shared_ptr<const Topology> topology);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_MIXING_H_
