// The work behind `grapevine sim --advise`: times the rounds of every candidate on a simulated
// cluster, recommends a topology and an algorithm from these times, and finds where, along a
// quantity such as bandwidth, the winning side changes, gossip or centralized methods. No learning,
// no files.
//
// Thread-safety: functions are safe from any thread; all but TimeRounds and AdviseCluster, which
// simulate, are pure.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "run/config/config.pb.h"

namespace grapevine {

// A combination of topology and algorithm that may be recommended.
struct Candidate {
  std::string topology;  // any for a centralized method: it plays no part
  std::string algorithm;
  bool centralized = false;  // a trait of the algorithm (algorithm/algorithm_kind.h)

  std::string name() const;  // "dpsgd on torus", "allreduce:tree"
};

// Returns the candidates for n nodes: what each registered algorithm advises for n, gossip on each
// graph that a registered topology advises (algorithm/algorithm_kind.h, topology/topology.h). Some
// do not exist for some n; building them says so.
std::vector<Candidate> AdviceCandidates(Rank nodes);

struct CandidateResult {
  Candidate candidate;
  // Seconds for as many gradients as there are nodes. A method that uses some nodes as servers
  // computes fewer in a round, and its rounds count for less.
  double seconds = 0;
  // Rounds after which averaging alone leaves a tenth of the nodes' disagreement, and the fraction
  // of the disagreement that a round removes (1: all of it). Exact methods have 1 and 1.
  double rounds_to_mix = 1;
  double gap = 1;
  // The most bytes that the vectors of a node take (--window=1).
  int64_t memory = 0;
};

// Candidates within this of the fastest count as equally fast.
inline constexpr double kTolerance = 0.05;

struct Advice {
  // By ascending seconds, not empty; `chosen` and the others are indices into it.
  std::vector<CandidateResult> ranking;
  // The candidate that mixes in the fewest rounds among those that are as fast as the fastest;
  // among equals, the fastest.
  size_t chosen = 0;
  std::optional<size_t> best_gossip;
  std::optional<size_t> best_centralized;
};

Advice Advise(std::vector<CandidateResult> results);

// Which side is faster by more than the tolerance (kTolerance).
enum class Verdict { kGossip, kTie, kCentralized };

// Returns the verdict for `advantage`, the centralized method's time over gossip's.
Verdict VerdictOf(double advantage);

struct Crossover {
  double at;  // within 2 %
  Verdict below;
  Verdict above;
};

struct CrossoverSearch {
  double low, high;                      // the range that was searched
  double advantage_low, advantage_high;  // at its ends
  std::vector<Crossover> crossovers;     // ascending; empty if one verdict holds throughout
};

// Evaluates `advantage` at kScanPoints from `low` to `high` (above 0), evenly on a logarithmic
// scale, and bisects where neighbours differ; a change that is undone between two points goes
// unnoticed. Errors are those of `advantage`.
absl::StatusOr<CrossoverSearch> FindCrossovers(
    double low, double high, const std::function<absl::StatusOr<double>(double)>& advantage);

inline constexpr int kScanPoints = 11;

struct RoundTimingOptions {
  Round warm_up = 8;    // rounds before the clock starts
  Round measured = 32;  // above 0
  // Ends the run with kInterrupted once set.
  const std::atomic<bool>* interrupted = nullptr;
};

// Returns the mean seconds per round, from when the last worker has completed the warm-up to when
// the last one has completed the measured rounds. The experiment must have a phantom model. Only
// the cluster's settings of `cluster` matter (network, bandwidth, latency ...).
absl::StatusOr<double> TimeRounds(const Experiment& experiment, const Config& cluster,
                                  const RoundTimingOptions& options);

struct AdviceProgress {
  // What was just completed: "3/19 candidates timed: allreduce:tree".
  std::string text;
  // How often a candidate was timed on a cluster, and how many times are left at least.
  double timed = 0;
  double left = 0;
};

struct AdviceRunOptions {
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;
  // Called from one thread at a time.
  std::function<void(const AdviceProgress&)> on_progress;
};

struct ClusterAdvice {
  Advice advice;
  // Candidates that the nodes cannot form, and why.
  std::vector<std::pair<Candidate, absl::Status>> left_out;
  // Crossovers over bandwidth in bits a second, at the network's latency, and over latency in
  // seconds, at its bandwidth. Absent if the network's file fixes them, or if a side has no
  // candidate; `no_crossovers` says which.
  std::optional<CrossoverSearch> bandwidth;
  std::optional<CrossoverSearch> latency;
  std::string no_crossovers;
};

// The ranges that are searched, in bits a second and in seconds.
inline constexpr double kLowestBandwidth = 1e6, kHighestBandwidth = 1e11;
inline constexpr double kLowestLatency = 1e-6, kHighestLatency = 1e-1;

// Times and ranks all candidates. `config` is resolved, with a phantom model and --compute; each
// candidate replaces its topology, algorithm and rounds. Errors: kUsage and kInput for the network,
// the first candidate's if none can be formed, kInterrupted.
absl::StatusOr<ClusterAdvice> AdviseCluster(const Config& config, const AdviceRunOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_H_
