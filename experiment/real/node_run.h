// Runs one node of an experiment: builds its parts, trains, and writes its files.
//
// Observes the runner: measures, reports to rank 0, evaluates. Rank 0, or the node that has taken
// over its role, also collects the run's metrics, evaluates averaged models and writes the results.
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
  int local_rank = 0;         // rank among the nodes of this machine
  std::string run_directory;  // must exist
  // The addresses of this node and the token that it presents. NodeRun fills in the settings that
  // follow from the experiment, such as time-outs.
  NodeSessionOptions session;
  // Whether the node may come into a run that is under way, in the place of a lost node.
  bool joins = false;
  // The pipe by which this process asks something of its launcher (NodeChaosOptions).
  std::optional<int> launcher = std::nullopt;
  // Called when the node has come into the run, which has begun or is under way.
  std::function<void()> on_begun = {};
  std::function<absl::Status(const HostAddress&)> on_listening;
  // Called on rank 0 once no other node can begin this run (NodeSessionCallbacks), before the run's
  // files are opened.
  std::function<absl::Status()> on_announced = [] { return absl::OkStatus(); };
  // Where the node shows itself to observers (node/telemetry/telemetry_port.h); absent if nowhere.
  std::optional<HostAddress> telemetry = std::nullopt;
  // The desk at which another program computes this node's gradients (Experiment::BuildFor an
  // OutsideProblem); null if the experiment's problem computes them.
  std::shared_ptr<GradientDesk> desk = nullptr;
  // Whether no other process keeps the run directory's lock once this node has rank 0's role.
  bool locks = false;
  // Receives every averaged model, before it is released, if this node has rank 0's role. If
  // another program computes gradients (desk), all nodes that have a part in the model receive it.
  // Called on a thread of the run, which waits for it.
  std::function<void(const AveragedModel&)> on_average = [](const AveragedModel&) {};
  // Receives every measurement of the run, if this node has rank 0's role.
  std::function<void(const RunMetrics&)> on_metrics;
  // Receives where the nodes are, about once a second, if this node has rank 0's role. Must not
  // wait. Empty if nobody looks.
  std::function<void(const RunStanding&)> on_standing = {};
  // Called when the node's disk does not answer: Run may not return before it does. Called on a
  // thread of the run, at most once.
  std::function<void(const absl::Status&)> on_stalled = [](const absl::Status&) {};
};

class NodeRun final : private RunObserver {
 public:
  // `experiment` must outlive the node.
  NodeRun(const Experiment* experiment, NodeRunOptions options);
  ~NodeRun() override;

  // Trains. Errors are those of NodeSession::Run.
  absl::Status Run();
  // Makes Run return `why`. Safe from any thread, at any time.
  void Interrupt(absl::Status why);
  // Makes Run return `why` once all nodes have a checkpoint, or at once if the run keeps no
  // checkpoints or has not begun. Safe from any thread, at any time.
  void EndWithCheckpoint(absl::Status why);
  // Ends the gradients of an open-ended run: no more come over the desk, of this node or, with
  // `all`, of all nodes.
  void Retire(bool all) { options_.desk->Retire(all); }
  // Whether all nodes have joined, so that measurements may exist.
  bool began() const { return node_metrics_ != nullptr; }
  Round round() const { return runner_->progress().round; }
  // Whether the others go on without this node (NodeSession), once Run has failed.
  bool others_go_on() const { return session_ != nullptr && session_->others_go_on(); }
  // Whether this node has rank 0's role, and so the run's results.
  bool coordinates() const { return coordinates_; }

 private:
  absl::Status OpenTelemetry();
  // Returns the figures of this moment. Safe from any thread.
  NodeFigures Figures();
  absl::Status Prepare();
  // Finds what --resume needs: what this node has to go on from and, on rank 0, where the run goes
  // on.
  absl::Status PrepareToGoOn();
  // Prepares to begin at the mean of the checkpoint's models, because the checkpoint had other
  // nodes.
  absl::Status PrepareToBeginAtMean(const Checkpoint& checkpoint);
  absl::Status FindOwnParts();
  absl::Status PrepareResumed(const Checkpoint& checkpoint);
  // Writes the replica of a node that begins, or that begins at the mean.
  absl::Status Initialize(float* replica) const;
  absl::Status PrepareCheckpoints();
  void PrepareOpenEnd();
  // Takes over the run's checkpoints, with rank 0's role.
  absl::Status InheritCheckpoints(const std::vector<RunMetrics>& measured);
  absl::Status PrepareLearning();
  absl::Status PrepareChaos();
  absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm();
  // Whether the run must not end before an average of the nodes that are not lost is evaluated.
  bool settles_last() const { return experiment_->shrinks() && experiment_->problem().learns(); }
  // Whether rank 0 may name rounds to save after. Nodes that agree on the nodes with which they go
  // on are asked for that, and for nothing else.
  bool SavesOnCall() const { return every_.has_value() && !experiment_->changes_views(); }
  // Directs interruptions to the session from this call on. Returns an interruption that came
  // before.
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
  // Continues rank 0's files, and removes from them all that is of later rounds than begin_.
  absl::Status ContinueFiles();
  void OnJoined(const std::vector<View>& views, const control::Joined& joined);
  absl::Status OnStart();
  void OnStalledDisk(const absl::Status& why);
  absl::StatusOr<std::string> NodeFolder();
  absl::StatusOr<std::string> ContinueNodeFolder();
  // Returns the time since the run began, which may be before this process did.
  std::chrono::nanoseconds Elapsed(std::chrono::steady_clock::time_point now) const {
    return elapsed_before_ + (now - start_);
  }

  absl::Status OnTrained(const SharedVector& model);
  // Returns `why` with this node's rank and when it happened.
  absl::Status Explained(std::string_view when, const absl::Status& why) const;
  absl::Status InEvaluation(Round round, const absl::Status& why) const;
  absl::Status ReportLocalModel(const Evaluation& local);
  absl::Status ReportTotals();

  // The part of rank 0, or of the node that has taken over its role:
  // Takes over rank 0's role.
  absl::Status OnRole();
  void PrepareEvaluations();
  // Opens the run's metrics and, if wanted, the event file. The run goes on from round `from`.
  absl::Status OpenRunMetrics(Round from);
  void PrepareCollector();
  absl::Status PrepareCompletion();
  void OnPart(Rank rank, const control::SavedPart& part);
  void OnLost(Rank rank);
  void OnNewcomer(Rank rank, Round from);
  // Adds to the manifest of a checkpoint that is being completed what it says of the run until
  // then.
  void Describe(CheckpointManifest* manifest) const;
  absl::Status OnGathered();
  absl::Status Evaluate(const AveragedModel& average);
  void ExtendRoundLimit();
  // Called under the lock of the coordinator's service: must not wait.
  void Record(const RunMetrics& metrics);
  // Returns the time by which a file must be written.
  std::chrono::steady_clock::time_point WritingDeadline() const;
  absl::Status WriteResults();
  absl::Status WriteSummary();

  const Experiment* const experiment_;
  const NodeRunOptions options_;
  std::atomic<bool> coordinates_;  // whether this node has rank 0's role
  const std::string node_directory_;
  const WriteGuard guard_;  // guard of the run's files
  const std::unique_ptr<RunCourse> course_;

  std::unique_ptr<const ComputeTime> compute_;
  std::shared_ptr<NodeChaos> chaos_;  // null without --chaos
  std::unique_ptr<NodeDevice> device_;
  std::unique_ptr<ViewMixing> views_;     // null unless nodes change views
  std::unique_ptr<Objective> objective_;  // null on a parameter server
  // Used by the evaluation thread on the node that has rank 0's role. Null on a parameter server
  // and if nothing learns.
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<NodeRecording> recording_;
  std::unique_ptr<Runner> runner_;
  std::unique_ptr<NodeSession> session_;
  std::unique_ptr<NodeMetricsFile> node_metrics_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::nanoseconds elapsed_before_{};  // time of a run that goes on, before this process
  Round begin_ = 0;                            // rounds done before, if the run goes on
  bool joined_ = false;  // whether the run was under way when this process came

  NodeWork work_;      // work since the last measurement
  NodeLedger ledger_;  // used if nodes share a budget of gradients
  NodeTelemetry telemetry_;

  std::unique_ptr<BackgroundLines> run_metrics_;  // written by rank 0's callbacks
  // Written by rank 0's callbacks; null without --tensorboard.
  std::unique_ptr<BackgroundLines> events_;
  std::unique_ptr<MetricsCollector> collector_;
  RunHorizon horizon_;
  std::atomic<Round> told_limit_ = 0;        // limit of the run that the session told last
  std::optional<RunMetrics> met_;            // the first line that met the target
  std::optional<CheckpointInterval> every_;  // --checkpoint-every
  std::optional<Checkpoint> others_;         // checkpoint of --resume, if it had other nodes
  SharedVector mean_;       // model to begin with, if the checkpoint had other nodes
  int64_t lost_bytes_ = 0;  // with --resume: bytes sent by nodes that are gone
  std::vector<control::SavedPart> own_parts_;  // with --resume: this node's parts of checkpoints
  std::optional<control::Resumed> resumed_;    // with --resume, on rank 0: where the run goes on
  // These use the members above, and so are destroyed first.
  std::unique_ptr<NodeCheckpoints> checkpoints_;      // --checkpoint-every; else null
  std::unique_ptr<CheckpointCompletion> completion_;  // --checkpoint-every on rank 0; else null
  std::unique_ptr<EvaluationThread> evaluations_;

  Mutex mutex_;
  bool interruptible_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status interrupted_ ABSL_GUARDED_BY(mutex_);  // an interruption that came before

  std::unique_ptr<DiskWatch> disk_watch_;  // watch over the run directory, once the run has begun
  std::unique_ptr<HttpServer> telemetry_port_;  // last: it calls Figures
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_RUN_H_
