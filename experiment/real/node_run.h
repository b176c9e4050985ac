// Runs one node of an experiment: builds its parts, trains, and writes its files.
//
// Observes the runner: measures, reports to rank 0, evaluates. Rank 0, or the node that has taken
// its role over, also collects the run's metrics, evaluates averaged models and writes the results.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_RUN_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_RUN_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/membership/view_mixing.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_identity.h"
#include "experiment/core/experiment_results.h"
#include "experiment/core/other_nodes.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/core/run_course.h"
#include "experiment/real/disk_watch.h"
#include "experiment/real/node_chaos.h"
#include "experiment/real/node_checkpoints.h"
#include "experiment/real/node_device.h"
#include "experiment/real/node_metrics_file.h"
#include "experiment/real/node_recording.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "node/control/node_metrics.h"
#include "node/identity/host_address.h"
#include "node/node_session.h"
#include "node/runner/evaluation_thread.h"
#include "node/runner/gradient_desk.h"
#include "node/runner/runner.h"
#include "node/telemetry/http_server.h"
#include "node/telemetry/node_telemetry.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/records/measurement.h"
#include "run/records/output_file.h"
#include "run/records/run_standing.h"
#include "run/timing/compute_time.h"
#include "system/mutex.h"

namespace grapevine {

struct NodeRunOptions {
  Rank rank = 0;
  int local_rank = 0;         // among the nodes of this machine
  std::string run_directory;  // exists
  // Where this node is and the token that it presents; the settings that follow from the
  // experiment, such as time-outs, are filled in.
  NodeSessionOptions session;
  // It may come into a run that is under way, in the place of one that is lost.
  bool joins = false;
  // Where a launcher hears what this process wants of it (--chaos).
  std::optional<int> launcher = std::nullopt;
  // It has come into the run, which has begun or is under way.
  std::function<void()> on_begun = {};
  std::function<absl::Status(const HostAddress&)> on_listening;
  // Rank 0: nobody else begins this run (NodeSessionCallbacks); then its files are opened.
  std::function<absl::Status()> on_announced = [] { return absl::OkStatus(); };
  // Where it shows itself to whoever watches (node/telemetry/telemetry_port.h); none: nowhere.
  std::optional<HostAddress> telemetry = std::nullopt;
  // Where somebody else computes this node's gradients (Experiment::BuildFor an OutsideProblem);
  // null: the experiment's problem does.
  std::shared_ptr<GradientDesk> desk = nullptr;
  // Whether no other process keeps the run directory's lock once this node has rank 0's role.
  bool locks = false;
  // Sees every averaged model, before it is released: where this node has rank 0's role; and on all
  // that have a part in it where somebody else computes gradients (desk). On a thread of the run;
  // the run waits for it.
  std::function<void(const AveragedModel&)> on_average = [](const AveragedModel&) {};
  // Where this node has rank 0's role: receives every measurement of the run.
  std::function<void(const RunMetrics&)> on_metrics;
  // Likewise, about once a second: where the nodes are. Must not wait; empty: nobody looks.
  std::function<void(const RunStanding&)> on_standing = {};
  // Its disk does not answer: Run may not return before it does. On a thread of the run, at most
  // once.
  std::function<void(const absl::Status&)> on_stalled = [](const absl::Status&) {};
};

class NodeRun final : private RunObserver {
 public:
  // `experiment` outlives it.
  NodeRun(const Experiment* experiment, NodeRunOptions options);
  ~NodeRun() override;

  // Trains; see NodeSession::Run for errors.
  absl::Status Run();
  // Makes Run return `why`; from any thread, at any time.
  void Interrupt(absl::Status why);
  // The same once all nodes have a checkpoint, if the run keeps some and has begun.
  void EndWithCheckpoint(absl::Status why);
  // In an open-ended run: no more gradients come over the desk, here or at `all` nodes.
  void Retire(bool all) { options_.desk->Retire(all); }
  // Whether all nodes have joined, so that there may be measurements.
  bool began() const { return node_metrics_ != nullptr; }
  Round round() const { return runner_->progress().round; }
  // Once Run has failed: whether the others go on without this node (NodeSession).
  bool others_go_on() const { return session_ != nullptr && session_->others_go_on(); }
  // Whether this node has rank 0's role, and so the run's results.
  bool coordinates() const { return coordinates_; }

 private:
  absl::Status OpenTelemetry();
  // As of now; from any thread.
  NodeFigures Figures();
  absl::Status Prepare();
  // With --resume: what this node has to go on from, and on rank 0 from where.
  absl::Status PrepareToGoOn();
  // From the checkpoint, which had other nodes.
  absl::Status PrepareToBeginAtMean(const Checkpoint& checkpoint);
  absl::Status FindOwnParts();
  absl::Status PrepareResumed(const Checkpoint& checkpoint);
  // The replica of a node that begins, or begins at the mean.
  absl::Status Initialize(float* replica) const;
  absl::Status PrepareCheckpoints();
  void PrepareOpenEnd();
  // With rank 0's role.
  absl::Status InheritCheckpoints(const std::vector<RunMetrics>& measured);
  absl::Status PrepareLearning();
  absl::Status PrepareChaos();
  absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm();
  // Whether the run must not end before an average of the living is evaluated.
  bool settles_last() const { return experiment_->shrinks() && experiment_->problem().learns(); }
  // Whether rank 0 may name rounds to save after. Nodes that agree on whom they go on without are
  // asked for that, and for nothing else.
  bool SavesOnCall() const { return every_.has_value() && !experiment_->changes_views(); }
  // Directs interruptions to the session from now on; returns one that came before.
  absl::Status BecomeInterruptible();
  void LogSizes() const;
  NodeSessionOptions SessionOptions(const std::vector<IdentityItem>& identity) const;
  NodeSessionCallbacks Callbacks();

  absl::Status OnRound(const RoundReport& report, const BoundaryModel& model) override;
  absl::Status OnCut(const CutReport& report, const BoundaryModel& model) override;
  void OnSteps(const StepsReport& report) override { session_->ReportSteps(report); }
  void OnAverage(AveragedModel average) override { evaluations_->Submit(std::move(average)); }
  void OnState(SavedNode saved) override;
  void OnToldAverage(const AveragedModel& average) override { options_.on_average(average); }
  void OnNoAverage(Round round) override { collector_->OnNoEvaluation(round); }
  void OnPeerLost(Rank peer, const absl::Status& why) override { session_->ReportLoss(peer, why); }
  void OnPromise(uint32_t ballot, Round round) override { session_->ReportPromise(ballot, round); }
  absl::Status OnResumed(const control::Resumed& resumed);
  absl::Status RestoreOwnPart(const control::SavedPart& own);
  // Rank 0's files, all of which are of this round or earlier from now on.
  absl::Status ContinueFiles();
  void OnJoined(const std::vector<View>& views, const control::Joined& joined);
  absl::Status OnStart();
  void OnStalledDisk(const absl::Status& why);
  absl::StatusOr<std::string> NodeFolder();
  absl::StatusOr<std::string> ContinueNodeFolder();
  // Since the run began, also before this process did.
  std::chrono::nanoseconds Elapsed(std::chrono::steady_clock::time_point now) const {
    return elapsed_before_ + (now - start_);
  }

  absl::Status OnTrained(const SharedVector& model);
  // `why`, with this node's rank and when it happened.
  absl::Status Explained(std::string_view when, const absl::Status& why) const;
  absl::Status InEvaluation(Round round, const absl::Status& why) const;
  absl::Status ReportLocalModel(const Evaluation& local);
  absl::Status ReportTotals();

  // Rank 0's part, or that of whoever has its role:
  // It comes to this node.
  absl::Status OnRole();
  void PrepareEvaluations();
  // And the event file, if it is wanted. The run goes on from this round.
  absl::Status OpenRunMetrics(Round from);
  void PrepareCollector();
  absl::Status PrepareCompletion();
  void OnPart(Rank rank, const control::SavedPart& part);
  void OnLost(Rank rank);
  void OnNewcomer(Rank rank, Round from);
  // Of a checkpoint that is being completed: the run until then.
  void Describe(CheckpointManifest* manifest) const;
  absl::Status OnGathered();
  absl::Status Evaluate(const AveragedModel& average);
  void ExtendRoundLimit();
  // Called under the lock of the coordinator's service: must not wait.
  void Record(const RunMetrics& metrics);
  // By when a file is to be written.
  std::chrono::steady_clock::time_point WritingDeadline() const;
  absl::Status WriteResults();
  absl::Status WriteSummary();

  const Experiment* const experiment_;
  const NodeRunOptions options_;
  std::atomic<bool> coordinates_;  // has rank 0's role
  const std::string node_directory_;
  const WriteGuard guard_;  // of the run's files
  const std::unique_ptr<RunCourse> course_;

  std::unique_ptr<const ComputeTime> compute_;
  std::shared_ptr<NodeChaos> chaos_;  // --chaos; else null
  std::unique_ptr<NodeDevice> device_;
  std::unique_ptr<ViewMixing> views_;     // --on-failure=shrink; else null
  std::unique_ptr<Objective> objective_;  // null on a parameter server
  // Where rank 0's role is, used by the evaluation thread. Null on a parameter server and if
  // nothing learns.
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<NodeRecording> recording_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<NodeSession> session_;
  std::unique_ptr<NodeMetricsFile> node_metrics_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::nanoseconds elapsed_before_{};  // of a run that goes on
  Round begin_ = 0;                            // likewise: rounds that were done before
  bool joined_ = false;                        // it was under way when this process came

  NodeWork work_;      // since the last measurement
  NodeLedger ledger_;  // where nodes share a budget of gradients
  NodeTelemetry telemetry_;

  std::unique_ptr<BackgroundLines> run_metrics_;  // written by rank 0's callbacks
  std::unique_ptr<BackgroundLines> events_;       // likewise; null without --tensorboard
  std::unique_ptr<MetricsCollector> collector_;
  RunHorizon horizon_;
  std::atomic<Round> told_limit_ = 0;          // of the run
  std::optional<RunMetrics> met_;              // the first line that met the target
  std::optional<CheckpointInterval> every_;    // --checkpoint-every
  std::optional<Checkpoint> others_;           // with --resume, if it had other nodes
  SharedVector mean_;                          // likewise, the model to begin with
  int64_t lost_bytes_ = 0;                     // with --resume: sent by nodes that are no more
  std::vector<control::SavedPart> own_parts_;  // with --resume
  std::optional<control::Resumed> resumed_;    // likewise, on rank 0
  // These use the members above: destroyed first.
  std::unique_ptr<NodeCheckpoints> checkpoints_;      // --checkpoint-every
  std::unique_ptr<CheckpointCompletion> completion_;  // likewise, on rank 0
  std::unique_ptr<EvaluationThread> evaluations_;

  Mutex mutex_;
  bool interruptible_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status interrupted_ ABSL_GUARDED_BY(mutex_);  // before it was interruptible

  std::unique_ptr<DiskWatch> disk_watch_;       // of the run directory, once the run has begun
  std::unique_ptr<HttpServer> telemetry_port_;  // last: it asks for Figures
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_RUN_H_
