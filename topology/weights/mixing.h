// The mixing matrix W of a round, which gives the weight of each neighbour's replica.
//
// x_i <- sum_j W_ij x_j (D-PSGD, arXiv:1705.09056, Algorithm 1). Where W is doubly stochastic,
// averaging preserves the mean of the replicas. Where only the columns of W sum to 1, averaging
// preserves the sum of the replicas, and nodes get unequal shares of it, which push-sum corrects
// (arXiv:1811.10792).
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_MIXING_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_MIXING_H_

#include <complex>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

struct Neighbour {
  Rank rank;
  double weight;
};

// One row of W: the weights with which a node averages in a round.
struct MixingRow {
  double self = 1;
  std::vector<Neighbour> in;  // ascending rank
};

// Says which sums of a matrix are 1 in every round.
enum class Stochastic {
  kDoubly,   // sums of rows and of columns
  kColumns,  // sums of columns: what a node gives away is what others get
};

class Mixing {
 public:
  virtual ~Mixing() = default;
  // The canonical spec: "metropolis", "uniform", "lazy:metropolis", "file:PATH".
  virtual std::string name() const = 0;
  virtual const Topology& topology() const = 0;
  virtual Stochastic stochastic() const { return Stochastic::kDoubly; }
  // Whether W_ij = W_ji.
  bool symmetric() const { return !topology().directed() && stochastic() == Stochastic::kDoubly; }
  // Replaces the contents of `row`. The row has exactly the in-neighbours of the topology,
  // including those with weight 0.
  virtual void Row(Rank rank, Round round, MixingRow* row) const = 0;
  // Returns eigenvalue k of the round's matrix where a closed form is known; see
  // Topology::MetropolisEigenvalue for k.
  virtual std::optional<std::complex<double>> Eigenvalue(Rank k, Round round) const {
    return std::nullopt;
  }
};

// Makes the weights for `topology` that `spec` names among the registered ones (Mixings()):
// "metropolis" (Metropolis-Hastings, the default: 1/(1 + max(d_i, d_j))), "uniform" (1/(d+1);
// refused where two neighbours differ in degree), "out-degree" (1/(1+the sender's out-degree):
// column-stochastic, on any graph), "lazy:SPEC" ((I+W)/2), "file:PATH" (an explicit matrix for each
// round of a graph's period, matrix_file.cc). The first three give 1/2 to both nodes in one-peer
// schedules and matchings. A doubly stochastic W is symmetric exactly where the graph is
// undirected. A matrix whose columns do not sum to 1 is refused; the error names the row or column
// and its sum.
absl::StatusOr<std::shared_ptr<const Mixing>> MakeMixing(std::string_view spec,
                                                         std::shared_ptr<const Topology> topology);

// The registration of mixing weights: their notation and factory.
//
// Register your own as this folder does: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
struct MixingKind {
  std::string name;     // "metropolis"
  std::string options;  // "[:MIXING]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/topology), where a graph accepts them.
  std::vector<std::string> examples;
  // Whether a path or another spec follows the name, which may contain colons (base/registry.h).
  bool tail = false;

  // Makes a doubly or column-stochastic matrix. Errors say why none exists on this graph.
  std::function<absl::StatusOr<std::shared_ptr<const Mixing>>(
      const Spec&, std::shared_ptr<const Topology> topology)>
      make;
};

// All mixing weights of this program.
Registry<MixingKind>& Mixings();

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_MIXING_H_
