// Rank 0's view of the whole run: joins what the nodes report for a round, and
// the evaluation of the averaged model, into one measurement a round.
//
// Thread-safe: reports come from the control service, evaluations from their
// thread. Measurements are emitted under the lock, in ascending order of rounds.
#ifndef GRAPEVINE_NODE_METRICS_COLLECTOR_H_
#define GRAPEVINE_NODE_METRICS_COLLECTOR_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "node/control.pb.h"
#include "run/metrics.h"
#include "run/summary.h"
#include "system/mutex.h"
#include "topology/topology.h"

namespace grapevine {

class MetricsCollector {
 public:
  struct Options {
    Rank size = 1;  // nodes, all of which report
    // The ranks below train; of the others, parameter servers, time and traffic count.
    Rank workers = 1;
    // Whether a measurement of this round waits for an evaluation.
    std::function<bool(Round)> evaluated;
    std::function<double(Round)> learning_rate;
    int64_t evaluation_bytes = 0;  // that all nodes send to merge their models for one
  };
  using Emit = std::function<void(const RunMetrics&)>;

  MetricsCollector(Options options, Emit emit) : options_(std::move(options)), emit_(emit) {}

  // One node's report of a round. Errors name the rank: a report that is
  // repeated, older than one already emitted, or too far ahead of the others, or a
  // worker's without samples.
  absl::Status OnNode(Rank rank, const control::NodeMetrics& report);
  void OnEvaluation(const ModelEvaluation& evaluation);

  // The last emitted value of each measurement, and the workers' own accuracies.
  RunMetrics latest() const;
  std::optional<Spread> local_test_accuracy() const;

  // Rounds that may be open at once.
  static constexpr size_t kMaxOpen = 4096;

 private:
  struct Open {
    std::map<Rank, control::NodeMetrics> reports;
    std::optional<ModelEvaluation> evaluation;
  };

  void EmitComplete() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool Complete(Round round, const Open& open) const;
  RunMetrics Join(Round round, const Open& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const Emit emit_;
  mutable Mutex mutex_;
  std::map<Round, Open> open_ ABSL_GUARDED_BY(mutex_);
  Round emitted_ ABSL_GUARDED_BY(mutex_) = 0;
  double emitted_time_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t evaluations_ ABSL_GUARDED_BY(mutex_) = 0;  // emitted
  RunMetrics latest_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, double> local_accuracy_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_METRICS_COLLECTOR_H_
