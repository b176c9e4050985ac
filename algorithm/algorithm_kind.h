// An algorithm's registration: its notation, factory and traits.
//
// Code that lists, compares, checks or recommends algorithms reads these; no other file knows
// an algorithm by name. Register your own as this folder does: docs/extending.md. The defaults
// of the functions are those of a gossip algorithm that sends one replica to each neighbour in
// each round.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_
#define GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "base/registry.h"
#include "base/spec.h"
#include "kernels/vector/vector_handle.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {

struct AlgorithmKind {
  std::string name;     // "dpsgd"
  std::string options;  // "[:order=atc]"
  std::string help;     // one line
  // The specs that contract suites run (tests/algorithm); they should cover all variants.
  std::vector<std::string> examples;
  // What KIND in `options` may be, if that is in a registry of its own; each is an example, too.
  std::function<std::vector<Listing>()> variants = nullptr;

  // All nodes average exactly, in every round or every so many, independently of the topology.
  bool centralized = false;
  // Whether the graph must be undirected, which is to say W symmetric (topology/weights/mixing.h).
  bool undirected = false;
  // The mixing weights that it averages right with. Unlike these, weights whose columns alone sum
  // to 1 bias an average that does not correct for them. Centralized ones use none.
  std::vector<Stochastic> weights = {Stochastic::kDoubly};
  // The optimizer that local steps must have for the method to be what it is called: "nesterov".
  // Empty: any.
  std::string optimizer = "";
  // Which part of the exchange overlaps with the gradient, as a clause: "D-PSGD sends while it
  // computes". Empty: none.
  std::string overlap = "";

  // Refuses unknown options. The graph satisfies `undirected`, the mixing `weights`.
  std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(const Spec&, AlgorithmOptions)> make;
  // HasRounds: whether nodes go through rounds together. Empty: they do.
  std::function<bool(const Spec&)> rounds = nullptr;
  // StepsBetweenExchanges, where there are no rounds. Empty: 1.
  std::function<Round(const Spec&)> window = nullptr;
  // IsResilient: whether nodes can go on without those that are lost: a message may end in Lost or
  // undelivered (algorithm/membership/resilient_algorithm.h). Empty: they cannot.
  std::function<bool(const Spec&)> resilient = nullptr;
  // EvaluatedModelOf. Empty: the workers' mean. Where it is the servers' weights, server s of S
  // passes the elements [s M/S, (s+1) M/S) of the M to Host::Boundary and Host::Rest.
  std::function<EvaluatedModel(const Spec&)> evaluated = nullptr;
  // WorkerCount: how many of so many nodes compute gradients. Empty: all.
  std::function<absl::StatusOr<Rank>(const Spec&, Rank nodes)> workers = nullptr;
  // MessagesPerRound. Empty: one for each edge and direction of round 0.
  std::function<absl::StatusOr<double>(const Spec&, const Topology&, const RunLength&)> messages =
      nullptr;
  // The ranges of a replica of `size` elements for which steps are requested. Empty: the whole.
  std::function<absl::StatusOr<std::vector<ReplicaRange>>(const Spec&, Rank nodes, int64_t size)>
      step_ranges = nullptr;
  // LargestMemory. Empty: the neighbours' replicas, the node's own, the gradient, the optimizer's
  // state and the output of a pass, which are (largest in-degree + 3 + state_vectors) replicas.
  std::function<absl::StatusOr<int64_t>(const Spec&, const Topology&, int64_t size,
                                        int state_vectors)>
      memory = nullptr;
  // The specs that --advise compares for this many nodes; gossip is compared on several graphs
  // each. Empty: none.
  std::function<std::vector<std::string>(Rank nodes)> advised = nullptr;
};

// All algorithms of this program.
Registry<AlgorithmKind>& Algorithms();

// Whether all nodes go through rounds together: each does every round, and the order of events
// does not change a bit. Otherwise nodes go on without waiting for one another and share a budget
// of gradients (algorithm/async_gradients.h): the order of events is part of the result, a graph
// cannot change from round to round, and a node's rounds are its own steps. True for an algorithm
// that this program does not know.
bool HasRounds(std::string_view spec);

// Of an algorithm without rounds: how many gradients a worker computes from one exchange to the
// next. 1 for an algorithm that this program does not know.
Round StepsBetweenExchanges(std::string_view spec);

// Whether nodes can go on without those that are lost. False for an algorithm that this program
// does not know.
bool IsResilient(std::string_view spec);
// Whether others may come in, in the places of those that are lost, at the mean of the rest's
// replicas: not where all must have the same replicas and optimizer's states, nor where nobody says
// how far the others are.
bool TakesNewcomers(std::string_view spec);
// The names of those of which some variant is.
std::vector<std::string> ResilientAlgorithms();

// The weights that it averages right with (AlgorithmKind::weights). None of one that this program
// does not know.
std::vector<Stochastic> UsableWeights(std::string_view spec);

// The defaults of AlgorithmKind::messages and ::memory.
double NeighbourMessages(const Topology& topology);
int64_t NeighbourMemory(const Topology& topology, int64_t size, int state_vectors);

// Over all ranks and rounds; of a graph that never repeats, over some rounds.
Rank LargestInDegree(const Topology& topology);

// The most elements that the vectors of any node have, with a window of 1, where a replica has
// `size` of them and the optimizer keeps `state_vectors` as long (optim/optimizer.h). --advise
// shows it. Errors as MakeAlgorithm's.
absl::StatusOr<int64_t> LargestMemory(std::string_view spec, const Topology& topology, int64_t size,
                                      int state_vectors);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_
