// Turns the measurements of nodes into those of the run. Each node reports to rank 0
// (MetricsReporter), which joins the reports of a round, and the evaluation of the averaged model,
// into one measurement (MetricsCollector).
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
#include "node/control/reported_rounds.h"
#include "run/records/awaited_peers.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"
#include "system/mutex.h"

namespace grapevine {

// Adds the losses, samples, noise, steps and waits of an earlier report of the same node. These are
// sums over the rounds since the last report, so that a report that is not used by itself is added
// to the next one. Pure.
void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report);

// Tells rank 0 what a node measures, and loses none of it if rank 0 is slow.
//
// While the node trains, nothing waits: a report that finds no room in the queue is kept and added
// to the next one. After training, no next report follows, and reports wait for room.
//
// Thread-compatible.
class MetricsReporter {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // Queues a report, waiting for room until `deadline` if it must (GrpcControlClient::SendBefore).
  // Returns ResourceExhausted if no room is left, another error if the run is over.
  using Send = std::function<absl::Status(Time deadline, control::Report report)>;

  explicit MetricsReporter(Send send) : send_(std::move(send)) {}

  // Reports what was measured since the last call. Does not wait.
  void Report(control::NodeMetrics metrics);
  // Sends the kept report, then `last`. Returns an error if they could not be sent.
  absl::Status Tell(control::Report last, Time deadline);

 private:
  absl::Status SendKept(Time deadline);

  const Send send_;
  std::optional<control::NodeMetrics> kept_;
};

// Collects, at rank 0, the measurements of the whole run.
//
// If some rank has passed a round without a report, the round is joined to the next; so are rounds
// that pile up behind a slow evaluation. Losses are then means over more rounds, and nothing is
// lost or counted twice.
//
// Thread-safe: reports come from the control service, evaluations from their thread. Measurements
// are emitted under the lock, in ascending order of rounds.
class MetricsCollector {
 public:
  struct Options {
    Rank size = 1;  // number of nodes, all of which report
    // The ranks below this one train. Only time and traffic of the others, which are parameter
    // servers, count.
    Rank workers = 1;
    // Whether every worker has samples in every round. False if nodes share a budget of gradients:
    // one of them may be slow.
    bool has_rounds = true;
    // Whether the run goes on with more or fewer nodes than it began with.
    bool changed = false;
    // Whether workers measure how noisy their gradients are.
    bool measures_noise = false;
    // Returns whether a measurement of this round waits for an evaluation.
    std::function<bool(Round)> evaluated;
    std::function<TrainingPoint(Round completed)> at;
  };
  using OnMetrics = std::function<void(const RunMetrics&)>;

  MetricsCollector(Options options, OnMetrics emit) : options_(std::move(options)), emit_(emit) {}

  // Makes the run go on from `round` at `time_s`, after the measurements `measured`; nodes that are
  // no longer in the run have sent `lost_bytes`. Must be called before the first report.
  void GoOnFrom(Round round, std::span<const RunMetrics> measured, double time_s,
                int64_t lost_bytes = 0);

  // Makes the collector go on with a run that another node measured before, after `measured`;
  // `bytes_sent` is what each rank has sent. Reports of rounds up to the last measurement are
  // ignored. Must be called before the first report.
  void TakeOver(std::span<const RunMetrics> measured, std::map<Rank, int64_t> bytes_sent,
                int64_t lost_bytes = 0);
  // Reports that rounds before this one will have no evaluation.
  void NoEvaluationsBefore(Round round);

  // Handles one node's report of a round. Errors name the rank whose report is repeated, older
  // than its last one, impossible, or a worker's without samples where each must have some; or the
  // rank that has stopped reporting while others are kMaxOpen rounds ahead.
  absl::Status OnNode(Rank rank, const control::NodeMetrics& report);
  void OnEvaluation(const EvaluationRecord& evaluation);
  // Reports that this round will have no evaluation, because nodes were lost.
  void OnNoEvaluation(Round round);
  // Reports that the run goes on without this rank: rounds are complete without it. The bytes that
  // it has reported as sent count in all later measurements.
  void Lose(Rank rank);
  // Reports that another process is in the rank's place, and reports rounds after `from`. If the
  // process has the files of the one before, it continues that one's counts, as its first report
  // shows.
  void TakeIn(Rank rank, Round from);

  // Returns the bytes that lost nodes have sent, as far as they have reported them.
  int64_t lost_bytes() const;
  // Return which ranks are lost, and how many are not.
  std::set<Rank> lost() const;
  Rank living() const;

  // Return the last emitted value of each measurement, and the workers' own accuracies.
  RunMetrics latest() const;
  std::optional<Spread> local_test_accuracy() const;
  // Returns the traffic of servers at the last measurement; nothing before the first, and in a run
  // without servers.
  std::optional<ServerLinks> server_links() const;
  // Returns, by rank, the steps that were reported here, including those of lost processes.
  std::map<int64_t, StepSums> steps() const;
  // Returns, by rank, for which peers each node has waited, including lost processes.
  std::map<int64_t, AwaitedPeers> waits() const;
  // Returns the totals, by rank, once all nodes have reported them; otherwise empty.
  std::vector<NodeTotals> totals() const;

  // The most rounds that may be open at once.
  static constexpr size_t kMaxOpen = 4096;

 private:
  struct Open {
    std::map<Rank, control::NodeMetrics> reports;
    std::optional<EvaluationRecord> evaluation;
    bool unevaluated = false;  // whether no evaluation will come
  };

  using Rounds = std::map<Round, Open>;
  Rank Living() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return options_.size - static_cast<Rank>(lost_.size());
  }
  // Notes the bytes that a rank reports as sent.
  void NoteCount(Rank rank, int64_t bytes_sent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the bytes of processes that do not take part in that round.
  int64_t BytesOfOthers(Round round) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the number of nodes that take part in that round.
  Rank NodesIn(Round round) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool AllReported(Round round, const Open& open) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<Rank>(open.reports.size()) == NodesIn(round);
  }
  // Returns whether no more reports of `round` will come.
  bool Passed(Round round) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns whether the round's evaluation may still come.
  bool AwaitsEvaluation(Round round, const Open& open) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Makes room for one more round.
  absl::Status MakeRoom() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the reports of a round to the next reports of their ranks.
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
  ReportedRounds last_ ABSL_GUARDED_BY(mutex_);
  // The losses and samples to be added to a rank's next report.
  std::map<Rank, control::NodeMetrics> carried_ ABSL_GUARDED_BY(mutex_);
  // The bytes that each rank has last reported as sent.
  std::map<Rank, int64_t> bytes_sent_ ABSL_GUARDED_BY(mutex_);
  std::set<Rank> lost_ ABSL_GUARDED_BY(mutex_);
  int64_t lost_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // sent by processes that are lost
  struct Newcomer {
    Round from;            // it takes part in the rounds after this one
    int64_t bytes_before;  // bytes that the process before has sent
    bool reported = false;
    bool counts_on = false;  // whether its own count includes those bytes
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
