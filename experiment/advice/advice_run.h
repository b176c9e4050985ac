// The work behind `grapevine sim --advise`: times the rounds of every candidate on a simulated
// cluster, and finds the crossovers between gossip and centralized methods. No learning, no
// files.
#ifndef GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_RUN_H_
#define GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_RUN_H_

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/event.h"
#include "experiment/advice/advice.h"
#include "experiment/core/experiment.h"
#include "run/config/config.pb.h"

namespace grapevine {

struct RoundTimingOptions {
  Round warm_up = 8;    // rounds before the clock starts
  Round measured = 32;  // above 0
  // Ends the run with kInterrupted once set.
  const std::atomic<bool>* interrupted = nullptr;
};

// Mean seconds per round, from when the last worker has completed the warm-up to when the last
// one has completed the measured rounds. The experiment has a phantom model; of `cluster` only
// the cluster's settings matter (network, bandwidth, latency ...).
absl::StatusOr<double> TimeRounds(const Experiment& experiment, const Config& cluster,
                                  const RoundTimingOptions& options);

struct AdviceRunOptions {
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;
  // What was just completed, "3/19 candidates timed: allreduce:tree"; from one thread at a time.
  std::function<void(const std::string&)> on_progress;
};

struct ClusterAdvice {
  Advice advice;
  // Candidates that the nodes cannot form, and why.
  std::vector<std::pair<Candidate, absl::Status>> left_out;
  // Over bandwidth in bits a second, at the network's latency, and over latency in seconds, at
  // its bandwidth. Absent if the network's file fixes them, or if a side has no candidate;
  // `no_crossovers` says which.
  std::optional<CrossoverSearch> bandwidth;
  std::optional<CrossoverSearch> latency;
  std::string no_crossovers;
};

// The ranges searched: bits a second, and seconds.
inline constexpr double kLowestBandwidth = 1e6, kHighestBandwidth = 1e11;
inline constexpr double kLowestLatency = 1e-6, kHighestLatency = 1e-1;

// `config` is resolved, with a phantom model and --compute; each candidate replaces its topology,
// algorithm and rounds. Errors: kUsage and kInput for the network, the first candidate's if none
// can be formed, kInterrupted.
absl::StatusOr<ClusterAdvice> AdviseCluster(const Config& config, const AdviceRunOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_RUN_H_
