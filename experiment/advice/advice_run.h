// Times rounds in the simulator, and every candidate on a cluster, and finds where gossip
// and centralized methods change places: the work behind `grapevine sim --advise`. No
// learning, no files.
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
  // Ends with kInterrupted once it is set.
  const std::atomic<bool>* interrupted = nullptr;
};

// Mean seconds per round, between the moments when the last worker has done the
// first and the last of the measured rounds. The experiment has a phantom model; the
// cluster is that of `cluster` (its network, bandwidth, latency ...), whose other
// fields do not matter.
absl::StatusOr<double> TimeRounds(const Experiment& experiment, const Config& cluster,
                                  const RoundTimingOptions& options);

struct AdviceRunOptions {
  int threads = 1;
  const std::atomic<bool>* interrupted = nullptr;
  // What was just done, "3/19 candidates timed: allreduce:tree"; from one thread at a time.
  std::function<void(const std::string&)> on_progress;
};

struct ClusterAdvice {
  Advice advice;
  // Candidates that the nodes cannot form, and why.
  std::vector<std::pair<Candidate, absl::Status>> left_out;
  // Over bandwidth in bits a second with the latency of the network, and the other
  // way round in seconds. Absent where the network's file fixes them, or where a
  // side has no candidate; `no_crossovers` says which.
  std::optional<CrossoverSearch> bandwidth;
  std::optional<CrossoverSearch> latency;
  std::string no_crossovers;
};

// What is looked at: bits a second, and seconds.
inline constexpr double kLowestBandwidth = 1e6, kHighestBandwidth = 1e11;
inline constexpr double kLowestLatency = 1e-6, kHighestLatency = 1e-1;

// `config` is resolved, with a phantom model and --compute; its topology, algorithm
// and rounds are replaced by each candidate's. Errors: kUsage and kInput of the
// network, the first candidate's when none can be formed, kInterrupted.
absl::StatusOr<ClusterAdvice> AdviseCluster(const Config& config, const AdviceRunOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_ADVICE_ADVICE_RUN_H_
