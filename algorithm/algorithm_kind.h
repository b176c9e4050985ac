// What is registered of an algorithm: how it is written, how it is made, and its traits.
//
// Whatever lists, compares, checks or recommends algorithms reads them from here; no other
// file knows an algorithm by name. One of your own registers like those of this folder:
// docs/extending.md. Functions that are left empty are those of a gossip algorithm that
// sends one replica to each neighbour in each round.
//
// Thread-safety: immutable once registered; the functions are pure, safe from any thread.
#ifndef GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_
#define GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "base/registry.h"
#include "base/spec.h"
#include "topology/topology.h"

namespace grapevine {

struct AlgorithmKind {
  std::string name;     // "dpsgd"
  std::string options;  // "[:order=atc]"
  std::string help;     // one line
  // The specs that contract suites run (tests/algorithm): all that it can be.
  std::vector<std::string> examples;

  // All nodes average exactly in every round, by messages that go everywhere, so that the
  // topology plays no part.
  bool centralized = false;
  // Whether nodes go through rounds together: then no order of events changes a bit.
  bool rounds = true;
  // Whether the graph must be undirected, which is to say W symmetric (topology/weights/mixing.h).
  bool undirected = false;
  // What of the exchange goes on while the gradient is computed, as a sentence's end:
  // "D-PSGD sends while it computes". Empty: nothing.
  std::string overlap = "";

  // Refuses options that it does not know. The graph fits `undirected`.
  std::function<absl::StatusOr<std::unique_ptr<Algorithm>>(const Spec&, AlgorithmOptions)> make;
  // WorkerCount: how many of so many nodes compute gradients. Empty: all.
  std::function<absl::StatusOr<Rank>(const Spec&, Rank nodes)> workers = nullptr;
  // MessagesPerRound. Empty: one for each edge and direction of round 0.
  std::function<absl::StatusOr<double>(const Spec&, const Topology&)> messages = nullptr;
  // What a node holds at most, in replicas, with a window of 1. Empty: (largest in-degree
  // + 4), a place for each neighbour's replica beside its own, gradient, optimizer's
  // state and what a pass writes.
  std::function<int64_t(const Spec&, const Topology&)> memory = nullptr;
  // The specs that --advise compares among so many nodes; of gossip each on several
  // graphs. Empty: none.
  std::function<std::vector<std::string>(Rank nodes)> advised = nullptr;
};

// All algorithms of this program.
Registry<AlgorithmKind>& Algorithms();

// AlgorithmKind::memory of what `spec` names. Errors as MakeAlgorithm's.
absl::StatusOr<int64_t> LargestMemory(std::string_view spec, const Topology& topology);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALGORITHM_KIND_H_
