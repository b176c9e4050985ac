// Which topology and algorithm to take, from the times that all of them would take; and
// where, along a quantity such as bandwidth, one side begins to win over the other.
//
// Thread-safety: pure functions over values.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"

namespace grapevine {

// A way of learning together that may be recommended.
struct Candidate {
  std::string topology;  // of a centralized method: any, it plays no part
  std::string algorithm;
  bool centralized = false;  // a trait of the algorithm (algorithm/algorithm_kind.h)

  std::string name() const;  // "dpsgd on torus", "allreduce:tree"
};

// What is compared among n nodes: what each registered algorithm advises for n, gossip on
// each graph that a registered topology advises (algorithm/algorithm_kind.h,
// topology/topology_kind.h). Some do not exist for some n: whoever builds them says so.
std::vector<Candidate> AdviceCandidates(Rank nodes);

struct CandidateResult {
  Candidate candidate;
  // For as many gradients as there are nodes: a method that keeps nodes as servers
  // computes fewer in a round, and its rounds count for less.
  double seconds = 0;
  // Rounds in which averaging alone leaves a tenth of the nodes' disagreement, and
  // the part of it that a round removes (1: all of it). Exact methods: 1 and 1.
  double rounds_to_mix = 1;
  double gap = 1;
};

// Candidates within this of the fastest count as equally fast.
inline constexpr double kTolerance = 0.05;

struct Advice {
  // By rising seconds, not empty; `chosen` and the others point into it.
  std::vector<CandidateResult> ranking;
  // Of those that are equally fast as the fastest, the one that mixes in the fewest
  // rounds, and then the fastest.
  size_t chosen = 0;
  std::optional<size_t> best_gossip;
  std::optional<size_t> best_centralized;
};

Advice Advise(std::vector<CandidateResult> results);

// Who is faster by more than the tolerance (kTolerance).
enum class Verdict { kGossip, kTie, kCentralized };

// `advantage`: the centralized time over gossip's.
Verdict VerdictOf(double advantage);

struct Crossover {
  double at;  // within 2 %
  Verdict below;
  Verdict above;
};

struct CrossoverSearch {
  double low, high;                      // what was looked at
  double advantage_low, advantage_high;  // at its ends
  std::vector<Crossover> crossovers;     // rising; empty when one verdict holds throughout
};

// Looks at kScanPoints from `low` to `high` (above 0), evenly on a logarithmic scale,
// and bisects where two neighbours differ; what changes and changes back between
// two points is not seen. Errors are those of `advantage`.
absl::StatusOr<CrossoverSearch> FindCrossovers(
    double low, double high, const std::function<absl::StatusOr<double>(double)>& advantage);

inline constexpr int kScanPoints = 11;

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_H_
