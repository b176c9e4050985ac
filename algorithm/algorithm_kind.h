// An algorithm's registration: its notation, factory and traits.
//
// Code that lists, compares, checks or recommends algorithms reads registrations; no other file
// knows an algorithm by name. Register your own as this folder does: docs/extending.md. The
// defaults of the functions are those of a gossip algorithm that sends one replica to each
// neighbour in each round.
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
  // The values of KIND in `options`, if they have a registry of their own. Each of them is an
  // example, too.
  std::function<std::vector<Listing>()> variants = nullptr;

  // Whether all nodes average exactly, in every round or every few rounds, independently of the
  // topology.
  bool centralized = false;
  // Whether the graph must be undirected, i.e. W symmetric (topology/weights/mixing.h).
  bool undirected = false;
  // The kinds of mixing weights with which the average is right. Weights whose columns alone sum to
  // 1 bias an average that does not correct for them. Centralized algorithms use no weights.
  std::vector<Stochastic> weights = {Stochastic::kDoubly};
  // The optimizer that local steps must use for the method to be what its name says: "nesterov".
  // Empty: any optimizer.
  std::string optimizer = "";
  // The part of the exchange that overlaps with the gradient, as a clause: "D-PSGD sends while it
  // computes". Empty: none.
  std::string overlap = "";

  // Makes an instance; refuses unknown options. The graph satisfies `undirected`, and the mixing
  // satisfies `weights`.
  std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(const Spec&, AlgorithmOptions)> make;
  // Whether nodes go through rounds together; see HasRounds. Empty: they do.
  std::function<bool(const Spec&)> rounds = nullptr;
  // The gradients from one exchange to the next, where nodes do not go through rounds together; see
  // StepsBetweenExchanges. Empty: 1.
  std::function<Round(const Spec&)> window = nullptr;
  // Whether nodes can go on without nodes that are lost, so that a message may end in Lost or
  // undelivered (algorithm/membership/resilient_algorithm.h); see IsResilient. Empty: they cannot.
  std::function<bool(const Spec&)> resilient = nullptr;
  // The model that counts; see EvaluatedModelOf. Empty: the workers' mean. Where it is the servers'
  // weights, server s of S passes the elements [s M/S, (s+1) M/S) of the M to Host::Boundary and
  // Host::Rest.
  std::function<EvaluatedModel(const Spec&)> evaluated = nullptr;
  // How many of `nodes` compute gradients; see WorkerCount. Empty: all.
  std::function<absl::StatusOr<Rank>(const Spec&, Rank nodes)> workers = nullptr;
  // The number of messages in a round; see MessagesPerRound. Empty: one message for each edge and
  // direction of round 0.
  std::function<absl::StatusOr<double>(const Spec&, const Topology&, const RunLength&)> messages =
      nullptr;
  // The ranges of a replica of `size` elements for which steps are requested; see StepRanges.
  // Empty: the whole replica.
  std::function<absl::StatusOr<std::vector<ReplicaRange>>(const Spec&, Rank nodes, int64_t size)>
      step_ranges = nullptr;
  // The largest memory of a node, in elements; see LargestMemory. Empty: the neighbours' replicas,
  // the node's own, the gradient, the optimizer's state and the output of a pass, which are
  // (largest in-degree + 3 + state_vectors) replicas.
  std::function<absl::StatusOr<int64_t>(const Spec&, const Topology&, int64_t size,
                                        int state_vectors)>
      memory = nullptr;
  // The specs that --advise compares for `nodes` nodes; it compares gossip on several graphs each.
  // Empty: none.
  std::function<std::vector<std::string>(Rank nodes)> advised = nullptr;
};

// Returns the registry of all algorithms of this program.
Registry<AlgorithmKind>& Algorithms();

// Returns whether all nodes go through rounds together: each node does every round, and the order
// of events does not change a bit of the result. Otherwise nodes go on without waiting for one
// another and share a budget of gradients (algorithm/async_gradients.h): the order of events is
// part of the result, a graph cannot change from round to round, and a node's rounds are its own
// steps. True for an algorithm that this program does not know.
bool HasRounds(std::string_view spec);

// Returns how many gradients a worker computes from one exchange to the next, for an algorithm
// without rounds. 1 for an algorithm that this program does not know.
Round StepsBetweenExchanges(std::string_view spec);

// Returns whether nodes can go on without nodes that are lost. False for an algorithm that this
// program does not know.
bool IsResilient(std::string_view spec);
// Returns whether other nodes may come in, in the places of lost ones, at the mean of the remaining
// nodes' replicas. False where all nodes must have the same replicas and optimizer states, and
// where no node says how far the others are.
bool TakesNewcomers(std::string_view spec);
// Returns the names of the algorithms of which some variant is resilient.
std::vector<std::string> ResilientAlgorithms();

// Returns the kinds of mixing weights with which the average is right (AlgorithmKind::weights).
// Empty for an algorithm that this program does not know.
std::vector<Stochastic> UsableWeights(std::string_view spec);

// The defaults of AlgorithmKind::messages and ::memory.
double NeighbourMessages(const Topology& topology);
int64_t NeighbourMemory(const Topology& topology, int64_t size, int state_vectors);

// Returns the largest in-degree over all ranks and rounds; for a graph that never repeats, over
// some of its rounds.
Rank LargestInDegree(const Topology& topology);

// Returns the largest number of elements that the vectors of any one node have together, with a
// window of 1, replicas of `size` elements, and an optimizer that keeps `state_vectors` vectors of
// that size (optim/optimizer.h). --advise shows it. Errors are those of MakeAlgorithm.
absl::StatusOr<int64_t> LargestMemory(std::string_view spec, const Topology& topology, int64_t size,
                                      int state_vectors);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_
