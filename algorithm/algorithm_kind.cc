#include "algorithm/algorithm_kind.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"

namespace grapevine {
namespace {

bool HasRounds(const AlgorithmKind& kind, const Spec& spec) {
  return !kind.rounds || kind.rounds(spec);
}

// Returns flags that make the average right on this graph, with weights of this kind or better
// ones.
std::vector<std::string> Remedies(const Mixing& mixing) {
  std::vector<std::string> remedies;
  if (!mixing.topology().directed()) remedies.push_back("--mixing=metropolis");
  for (const AlgorithmKind* kind : Algorithms().All()) {
    if (std::ranges::count(kind->weights, mixing.stochastic()) > 0) {
      remedies.push_back(absl::StrCat("--algorithm=", kind->name));
    }
  }
  return remedies;
}

// Returns an error unless the algorithm can work with the graph and its weights.
absl::Status CheckMixing(const AlgorithmKind& kind, const Spec& spec, const Mixing& mixing) {
  const Topology& topology = mixing.topology();
  if (kind.undirected && topology.directed()) {
    return SpecError(spec.text,
                     absl::StrCat("needs a graph whose edges go both ways, unlike those of ",
                                  topology.name(), "; take ring or another such --topology"));
  }
  if (kind.centralized) return absl::OkStatus();
  if (topology.period() != 1 && !HasRounds(kind, spec)) {
    return SpecError(spec.text,
                     absl::StrCat("its nodes go through no rounds together, and ", topology.name(),
                                  " changes with the round; take ring or "
                                  "another --topology that stays the same"));
  }
  if (std::ranges::count(kind.weights, mixing.stochastic()) > 0) return absl::OkStatus();
  return SpecError(spec.text,
                   absl::StrCat("needs mixing weights whose rows and columns sum to 1; of ",
                                mixing.name(), " on ", topology.name(),
                                " only the columns do, and the mean of the "
                                "replicas would be biased; take ",
                                absl::StrJoin(Remedies(mixing), " or ")));
}

}  // namespace

double NeighbourMessages(const Topology& topology) {
  double messages = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) messages += topology.Degree(rank, 0);
  return messages;
}

Rank LargestInDegree(const Topology& topology) {
  Rank largest = 0;
  for (Round round = 0; round < topology.shown_rounds(); ++round) {
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      largest = std::max(largest, topology.Degree(rank, round));
    }
  }
  return largest;
}

int64_t NeighbourMemory(const Topology& topology, int64_t size, int state_vectors) {
  return (LargestInDegree(topology) + 3 + state_vectors) * size;
}

Registry<AlgorithmKind>& Algorithms() {
  static auto* const algorithms = new Registry<AlgorithmKind>("algorithm");
  return *algorithms;
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(std::string_view text,
                                                         AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  RETURN_IF_ERROR(CheckMixing(*named.kind, named.spec, *options.mixing));
  return named.kind->make(named.spec, std::move(options));
}

bool IsCentralized(std::string_view text) {
  const auto named = Algorithms().Read(text);
  return named.ok() && named->kind->centralized;
}

bool HasRounds(std::string_view text) {
  const auto named = Algorithms().Read(text);
  return !named.ok() || HasRounds(*named->kind, named->spec);
}

Round StepsBetweenExchanges(std::string_view text) {
  const auto named = Algorithms().Read(text);
  return named.ok() && named->kind->window ? named->kind->window(named->spec) : 1;
}

bool IsResilient(std::string_view text) {
  const auto named = Algorithms().Read(text);
  return named.ok() && named->kind->resilient && named->kind->resilient(named->spec);
}

bool TakesNewcomers(std::string_view text) {
  return IsResilient(text) && HasRounds(text) && !IsCentralized(text);
}

std::vector<std::string> ResilientAlgorithms() {
  std::vector<std::string> names;
  for (const AlgorithmKind* kind : Algorithms().All()) {
    if (kind->resilient) names.push_back(kind->name);
  }
  return names;
}

std::vector<Stochastic> UsableWeights(std::string_view text) {
  const auto named = Algorithms().Read(text);
  return named.ok() ? named->kind->weights : std::vector<Stochastic>();
}

EvaluatedModel EvaluatedModelOf(std::string_view text) {
  const auto named = Algorithms().Read(text);
  return named.ok() && named->kind->evaluated ? named->kind->evaluated(named->spec)
                                              : EvaluatedModel::kWorkersMean;
}

absl::StatusOr<Rank> WorkerCount(std::string_view text, Rank nodes) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  return named.kind->workers ? named.kind->workers(named.spec, nodes) : nodes;
}

absl::StatusOr<double> MessagesPerRound(std::string_view text, const Topology& topology,
                                        const RunLength& length) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  return named.kind->messages ? named.kind->messages(named.spec, topology, length)
                              : NeighbourMessages(topology);
}

absl::StatusOr<std::vector<ReplicaRange>> StepRanges(std::string_view text, Rank nodes,
                                                     int64_t size) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  if (named.kind->step_ranges) return named.kind->step_ranges(named.spec, nodes, size);
  return std::vector<ReplicaRange>{{0, size}};
}

absl::StatusOr<int64_t> LargestMemory(std::string_view text, const Topology& topology, int64_t size,
                                      int state_vectors) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  if (named.kind->memory) return named.kind->memory(named.spec, topology, size, state_vectors);
  return NeighbourMemory(topology, size, state_vectors);
}

}  // namespace grapevine
