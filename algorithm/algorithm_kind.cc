#include "algorithm/algorithm_kind.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

double NeighbourMessages(const Topology& topology) {
  double messages = 0;
  for (Rank rank = 0; rank < topology.size(); ++rank) messages += topology.Degree(rank, 0);
  return messages;
}

// How many rounds are looked at where a graph never repeats.
constexpr Round kSampledRounds = 32;

Rank LargestInDegree(const Topology& topology) {
  Rank largest = 0;
  const Round rounds = topology.period() > 0 ? topology.period() : kSampledRounds;
  for (Round round = 0; round < rounds; ++round) {
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      largest = std::max(largest, topology.Degree(rank, round));
    }
  }
  return largest;
}

bool HasRounds(const AlgorithmKind& kind, const Spec& spec) {
  return !kind.rounds || kind.rounds(spec);
}

}  // namespace

Registry<AlgorithmKind>& Algorithms() {
  static auto* const algorithms = new Registry<AlgorithmKind>("algorithm");
  return *algorithms;
}

absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(std::string_view text,
                                                         AlgorithmOptions options) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  const Topology& topology = options.mixing->topology();
  if (named.kind->undirected && topology.directed()) {
    return SpecError(text, absl::StrCat("needs a graph whose edges go both ways, unlike those of ",
                                        topology.name(), "; take ring or another such --topology"));
  }
  const bool fixed = topology.period() == 1 || named.kind->centralized;
  if (!fixed && !HasRounds(*named.kind, named.spec)) {
    return SpecError(text,
                     absl::StrCat("its nodes go through no rounds together, and ", topology.name(),
                                  " changes with the round; take ring or "
                                  "another --topology that stays the same"));
  }
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

absl::StatusOr<Rank> WorkerCount(std::string_view text, Rank nodes) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  return named.kind->workers ? named.kind->workers(named.spec, nodes) : nodes;
}

absl::StatusOr<double> MessagesPerRound(std::string_view text, const Topology& topology) {
  ASSIGN_OR_RETURN(const auto named, Algorithms().Read(text));
  return named.kind->messages ? named.kind->messages(named.spec, topology)
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
  return (LargestInDegree(topology) + 3 + state_vectors) * size;
}

}  // namespace grapevine
