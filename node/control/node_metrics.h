// How what nodes measure becomes the run's: each reports to rank 0 (MetricsReporter), which joins
// the reports of a round, and the evaluation of the averaged model, into one measurement
// (MetricsCollector).
#ifndef GRAPEVINE_NODE_CONTROL_NODE_METRICS_H_
#define GRAPEVINE_NODE_CONTROL_NODE_METRICS_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "run/records/awaited_peers.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"
#include "system/mutex.h"

namespace grapevine {

// Adds the losses, samples, noise, steps and waits of an earlier report of the same node. They are
// sums over the rounds since the last report, so a report that is not used by itself is added to
// the next one. Pure.
void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report);

// Tells rank 0 what a node measures, and loses none of it when rank 0 is slow.
//
// While the node trains, nothing waits: a report that finds no room in the queue is kept and added
// to the next one. Once it has trained, there is no next one, and reports wait for room.
//
// Thread-compatible.
class MetricsReporter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Queues a report, waiting for room until `deadline` if it must (GrpcControlClient::SendBefore):
  // ResourceExhausted when there is none, another error when the run is over.
  using Send = std::function<absl::Status(Time deadline, control::Report report)>;

  explicit MetricsReporter(Send send) : send_(std::move(send)) {}

  // Reports what was measured since the last call. Does not wait.
  void Report(control::NodeMetrics metrics);
  // Sends what was kept, then `last`. The error says that they could not be sent.
  absl::Status Tell(control::Report last, Time deadline);

 private:
  absl::Status SendKept(Time deadline);

  const Send send_;
  std::optional<control::NodeMetrics> kept_;
};

// Rank 0's view of the whole run.
//
// A round that some rank has passed without a report is joined to the next, and so are rounds that
// pile up behind a slow evaluation: losses are then means over more rounds, and nothing is lost or
// counted twice.
//
// Thread-safe: reports come from the control service, evaluations from their thread. Measurements
// are emitted under the lock, in ascending order of rounds.
class MetricsCollector {
 public:
  struct Options {
    Rank size = 1;  // nodes, all of which report
    // The ranks below this one train; of the others, parameter servers, only time and traffic
    // count.
    Rank workers = 1;
    // Whether every worker has samples in every round; not so where nodes share a budget of
    // gradients and one may be slow.
    bool has_rounds = true;
    // The run goes on with more or fewer nodes than it began with.
    bool changed = false;
    // Whether workers measure how noisy their gradients are.
    bool measures_noise = false;
    // Whether a measurement of this round waits for an evaluation.
    std::function<bool(Round)> evaluated;
    std::function<TrainingPoint(Round completed)> at;
  };
  using OnMetrics = std::function<void(const RunMetrics&)>;

  MetricsCollector(Options options, OnMetrics emit) : options_(std::move(options)), emit_(emit) {}

  // Before the first report: the run goes on from `round`, behind these measurements, at this time,
  // without nodes that have sent so much.
  void GoOnFrom(Round round, std::span<const RunMetrics> measured, double time_s,
                int64_t lost_bytes = 0);

  // Before the first report, where the run was another's to measure: likewise, and this is what
  // each rank has sent. What is reported of rounds until there has been measured.
  void TakeOver(std::span<const RunMetrics> measured, std::map<Rank, int64_t> bytes_sent,
                int64_t lost_bytes = 0);
  // There will be no evaluation of earlier rounds than this one.
  void NoEvaluationsBefore(Round round);

  // One node's report of a round. Errors name the rank: a report that is repeated, older than its
  // last, of what cannot be, or a worker's without samples, where each must have some; or the rank
  // that has stopped reporting while others are kMaxOpen rounds ahead.
  absl::Status OnNode(Rank rank, const control::NodeMetrics& report);
  void OnEvaluation(const EvaluationRecord& evaluation);
  // There will be no evaluation of this round, as nodes were lost.
  void OnNoEvaluation(Round round);
  // The run goes on without this rank: rounds are complete without it. What it has sent, as far as
  // it has said, counts in all that come.
  void Lose(Rank rank);
  // Another process is in its place, which reports of rounds after `from`. It goes on counting
  // where the one before has left off, if it has that one's files, as its first report shows.
  void TakeIn(Rank rank, Round from);

  // What nodes that are lost have sent, as far as they had said.
  int64_t lost_bytes() const;
  // Who is lost, and how many are not.
  std::set<Rank> lost() const;
  Rank living() const;

  // The last emitted value of each measurement, and the workers' own accuracies.
  RunMetrics latest() const;
  std::optional<Spread> local_test_accuracy() const;
  // As of the last measurement; nothing before the first, and where no node is a server.
  std::optional<ServerLinks> server_links() const;
  // By rank, what each has reported here, also of processes that are lost.
  std::map<int64_t, StepSums> steps() const;
  // Likewise, for whom each has waited.
  std::map<int64_t, AwaitedPeers> waits() const;
  // By rank, once all nodes have reported them; else empty.
  std::vector<NodeTotals> totals() const;

  // Rounds that may be open at once.
  static constexpr size_t kMaxOpen = 4096;

 private:
  struct Open {
    std::map<Rank, control::NodeMetrics> reports;
    std::optional<EvaluationRecord> evaluation;
    bool unevaluated = false;  // there will be none
  };

  using Rounds = std::map<Round, Open>;
  Rank Living() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return options_.size - static_cast<Rank>(lost_.size());
  }
  // What a rank has sent, as it says.
  void NoteCount(Rank rank, int64_t bytes_sent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // What those have sent who do not do that round.
  int64_t BytesOfOthers(Round round) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Who does that round.
  Rank NodesIn(Round round) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AllReported(Round round, const Open& open) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<Rank>(open.reports.size()) == NodesIn(round);
  }
  // Whether no more reports of `round` will come.
  bool Passed(Round round) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Whether its evaluation may still come.
  bool AwaitsEvaluation(Round round, const Open& open) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes room for one more round.
  absl::Status MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the reports of a round to the next ones of their ranks.
  void JoinToNextAfter(Round round, const Open& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RunMetrics EvaluationAlone(Round round, const Open& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Emit(const RunMetrics& metrics) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void EmitComplete() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void NoteServerLinks(const Open& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  RunMetrics Join(Round round, const Open& open) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Options options_;
  const OnMetrics emit_;
  mutable Mutex mutex_;
  Rounds open_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, Round> last_ ABSL_GUARDED_BY(mutex_);  // of each rank's reports
  // The losses and samples that are to be added to a rank's next report.
  std::map<Rank, control::NodeMetrics> carried_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, int64_t> bytes_sent_ ABSL_GUARDED_BY(mutex_);  // that each has last reported
  std::set<Rank> lost_ ABSL_GUARDED_BY(mutex_);
  int64_t lost_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // sent by processes that are lost
  struct Newcomer {
    Round from;            // it does the rounds after it
    int64_t bytes_before;  // that the process before has sent
    bool reported = false;
    bool counts_on = false;  // its own count includes those
  };
  std::map<Rank, Newcomer> newcomers_ ABSL_GUARDED_BY(mutex_);
  Round emitted_ ABSL_GUARDED_BY(mutex_) = 0;
  Round taken_over_at_ ABSL_GUARDED_BY(mutex_) = 0;
  Round evaluated_from_ ABSL_GUARDED_BY(mutex_) = 0;
  RunMeter meter_ ABSL_GUARDED_BY(mutex_);
  std::optional<ServerLinks> server_links_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, double> local_accuracy_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, StepSums> steps_ ABSL_GUARDED_BY(mutex_);
  std::map<int64_t, AwaitedPeers> waits_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, NodeTotals> totals_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_NODE_METRICS_H_
