// Communication graphs. A graph says which nodes exchange replicas; it may change with the round.
//
// A topology is an immutable value. Every node evaluates it on its own from (spec, n, seed), and
// all nodes get equal answers. Neighbours are computed, not stored, where a formula exists: a
// complete graph of 100,000 nodes costs nothing to describe. For weights see mixing.h.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_TOPOLOGY_TOPOLOGY_H_
#define GRAPEVINE_TOPOLOGY_TOPOLOGY_H_

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/registry.h"
#include "base/spec.h"

namespace grapevine {

class Topology {
 public:
  virtual ~Topology() = default;

  // Returns the canonical spec, with every default resolved: "torus:4x8".
  virtual std::string name() const = 0;
  // Number of nodes, at least 1.
  virtual Rank size() const = 0;
  // Number of rounds after which the graph repeats: 1 when it is fixed, 0 when it never repeats
  // (random matchings).
  virtual Round period() const = 0;
  // Number of rounds, from 0 on, that show every edge. For a graph that never repeats, these rounds
  // are a sample.
  Round shown_rounds() const { return period() > 0 ? period() : kSampledRounds; }
  static constexpr Round kSampledRounds = 32;
  // Whether any edge is one-way.
  virtual bool directed() const = 0;

  // Lists the nodes whose replicas `rank` averages in `round`, ascending, without `rank` itself and
  // without repetition. Replaces the contents of `neighbours`.
  virtual void InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const = 0;
  // Lists the nodes that average the replica of `rank` in `round`, ascending, without `rank` itself
  // and without repetition. Replaces the contents of `neighbours`.
  virtual void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const = 0;

  // Returns the number of in-neighbours, without listing them where a formula exists.
  virtual Rank Degree(Rank rank, Round round) const {
    std::vector<Rank> neighbours;
    InNeighbours(rank, round, &neighbours);
    return static_cast<Rank>(neighbours.size());
  }
  // Returns the number of out-neighbours. It equals the number of in-neighbours where the graph is
  // undirected, and in every graph with a formula.
  virtual Rank OutDegree(Rank rank, Round round) const {
    if (!directed()) return Degree(rank, round);
    std::vector<Rank> neighbours;
    OutNeighbours(rank, round, &neighbours);
    return static_cast<Rank>(neighbours.size());
  }

  // Returns eigenvalue k of the round's Metropolis-Hastings matrix where a closed form is known. k
  // is in [0, size()), and k = 0 is the eigenvalue 1 of the mean. Where the graph has a period, k
  // stands for the same eigenvector in every round, so that the eigenvalues of a product of rounds
  // are products of eigenvalues.
  virtual std::optional<std::complex<double>> MetropolisEigenvalue(Rank k, Round round) const {
    return std::nullopt;
  }
};

// Builds the topology that `spec` names ("ring", "torus:4x8", "random:d=3", "file:PATH", ...)
// among the registered ones (Topologies()) over n nodes. Errors name the spec, what
// is wrong and, if another n would work, the nearest one.
absl::StatusOr<std::shared_ptr<const Topology>> MakeTopology(std::string_view spec, Rank n,
                                                             uint64_t seed);

// A topology's registration: its notation, factory and traits, and the error that refuses a
// size.
//
// Register your own as topology/graphs does: docs/extending.md.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
struct TopologyKind {
  std::string name;     // "torus"
  std::string options;  // "[:4x8]"
  std::string help;     // one line
  // The specs that the contract suite runs (tests/topology); they should cover all variants.
  std::vector<std::string> examples;
  // Whether a path follows the name, which may contain colons (base/registry.h).
  bool tail = false;
  // Whether the edges are drawn or given, rather than follow from a formula. When nodes are lost,
  // the edges between the other nodes stay (weights/living_mixing.h).
  bool drawn = false;

  // Makes the topology over n >= 1 nodes. A function of its arguments only. Errors name the spec,
  // what is wrong and, if another n would work, the nearest one (SizeError).
  std::function<absl::StatusOr<std::shared_ptr<const Topology>>(const Spec&, Rank n, uint64_t seed)>
      make;
  // Returns the specs on which --advise compares gossip for this many nodes. Empty: none.
  std::function<std::vector<std::string>(Rank nodes)> advised = nullptr;
};

// All topologies of this program.
Registry<TopologyKind>& Topologies();

// Returns the specs that all topologies advise for this many nodes, in the order of their names.
// Some specs do not exist for some n.
std::vector<std::string> AdvisedTopologies(Rank nodes);

// Returns the error that refuses `spec` over n nodes because of `rule`: "hypercube: not for 12
// nodes: n must be a power of two; the nearest is n = 8 or 16". For every n from 1 on, a topology
// is defined or refuses n in these words.
//
// The error names the sizes closest to n for which `works` holds (both, when one below is as close
// as one above). Some size above n must work. No size below `least` may work, which keeps the
// search short where an option asks for very many nodes.
absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule,
                       const std::function<bool(int64_t)>& works, int64_t least = 1);

// Returns this error for a spec that works for exactly one size, `only`.
absl::Status SizeError(std::string_view spec, Rank n, std::string_view rule, int64_t only);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_TOPOLOGY_H_
