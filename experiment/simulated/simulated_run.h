// Runs one experiment in the simulator: builds its parts, simulates, and writes its files. The
// counterpart of experiment/real/node_run.h for all nodes at once.
//
// Its classes are thread-compatible.
#ifndef GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_RUN_H_
#define GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_RUN_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/async_gradients.h"
#include "algorithm/membership/view_mixing.h"
#include "algorithm/receiving.h"
#include "experiment/core/experiment.h"
#include "experiment/core/experiment_results.h"
#include "experiment/core/other_nodes.h"
#include "experiment/core/run_course.h"
#include "experiment/simulated/simulated_chaos.h"
#include "experiment/simulated/simulated_checkpoints.h"
#include "experiment/simulated/simulated_cluster.h"
#include "kernels/vector/shared_vector.h"
#include "model/problem/averaged_model.h"
#include "run/checkpoint/checkpoint_directory.h"
#include "run/records/measurement.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"
#include "run/timing/compute_time.h"
#include "run/trace/chrome_trace.h"
#include "sim/engine/round_collector.h"
#include "sim/engine/sim_observer.h"
#include "sim/engine/simulation.h"
#include "sim/engine/step_observers.h"
#include "sim/nanoseconds.h"

namespace grapevine {

// Each virtual node's own metrics.jsonl, as a real node would write it. Lines are kept in memory
// until Write: a simulation of many nodes has no descriptor for each.
class SimulatedNodeMetrics {
 public:
  // `experiment` and the run's `course` must outlive this. A model that does not learn has totals,
  // but no lines.
  SimulatedNodeMetrics(const Experiment* experiment, const RunCourse* course, Rank nodes);

  // Continues the run at `time` from `round`, until which the node has received `bytes_received`
  // bytes. Cuts off the node's lines in `run` that are of later rounds.
  absl::Status Resume(const std::string& run, Rank rank, Round round, Nanoseconds time,
                      int64_t bytes_received);

  void OnGradient(const GradientTimes& gradient);
  void OnMessage(const MessageTimes& message);
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end);
  // Takes the node's waits from `statistics` for each line.
  void OnCut(const CutTimes& cut, int64_t bytes_sent, const Staleness& staleness,
             StepStatistics* statistics);

  // Returns the bytes received in the rounds before `completed`, which must ascend.
  int64_t BytesReceived(Rank rank, Round completed) {
    return nodes_[rank].bytes_received.Before(completed);
  }
  // Returns what a node has done, in a run whose nodes share a budget of gradients.
  NodeTotals totals(Rank rank, const Staleness& staleness) const {
    return nodes_[rank].ledger.totals(staleness);
  }
  // Writes `run`/node-RANK/metrics.jsonl for every node.
  absl::Status Write(const std::string& run) const;

 private:
  struct Node {
    NodeWork work;  // work since the last line
    NodeLedger ledger;
    Nanoseconds last_line = 0;
    RoundBytes bytes_received;
    std::string lines;
  };

  const Experiment* const experiment_;
  const RunCourse* const course_;
  std::vector<Node> nodes_;
};

struct SimulatedRunOptions {
  // The run directory, which must exist; for a run that continues (--resume), its own.
  std::string run_directory;
  // Receives every measurement, in ascending order of rounds.
  std::function<void(const RunMetrics&)> on_metrics;
  // Ends the run with kInterrupted once set.
  const std::atomic<bool>* interrupted = nullptr;
  // Ends the run with kTerminated and a checkpoint once set, if the run keeps checkpoints.
  const std::atomic<bool>* terminated = nullptr;
};

class SimulatedRun final : private SimObserver {
 public:
  // `experiment` must outlive this.
  SimulatedRun(const Experiment* experiment, SimulatedRunOptions options);
  ~SimulatedRun() override;

  // Simulates, and writes what a real run writes (run/records/run_directory.h), except the nodes'
  // folders of a phantom model. With --resume, continues from the checkpoint, and adds to what the
  // files say of the rounds until then.
  absl::StatusOr<Summary> Run();
  // Returns where the time went. Valid after Run.
  Statistics statistics() const;

 private:
  // A gradient of a run without rounds. It may be given up, so it counts once its step is taken, as
  // with real nodes.
  struct HeldGradient {
    GradientTimes times;
    std::vector<TensorNorms> norms;
  };

  absl::Status Prepare();
  absl::Status PrepareTrace();
  absl::Status PrepareChaos();
  std::unique_ptr<NetworkModel> MakeNetwork(AlarmClock* clock) const;
  absl::Status PrepareCheckpoints();
  // The round and the time at which the run continues; 0 for a run that begins.
  Round begin() const { return resumed_ ? resumed_->manifest.round() : 0; }
  Nanoseconds begin_time() const { return resumed_ ? resumed_->manifest.time_ns() : 0; }
  // Finds the checkpoint from which the run continues, if it does, and brings the course there.
  absl::Status PrepareToGoOn();
  // Returns whether the nodes continue from their own states, as their number has not changed.
  bool restores() const { return resumed_ && !BeginsAtMean(*resumed_, *experiment_); }
  // If the nodes continue, returns what each of them had completed; empty where all had completed
  // as many rounds.
  std::vector<Round> Done() const;
  // Removes what is of later rounds from the run's directory.
  absl::Status ContinueFiles();
  // Returns the bytes that a node has sent in all rounds until now.
  int64_t BytesSent(Rank rank) const;
  // Adds the run until now to the manifest of a checkpoint that is being completed.
  void Describe(CheckpointManifest* manifest) const;
  void OnGradient(const GradientTimes& gradient) override;
  absl::Status OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec model) override;
  void CountGradient(const GradientTimes& gradient);
  void OnMessage(const MessageTimes& message) override;
  void OnArithmetic(Rank rank, Nanoseconds begin, Nanoseconds end) override;
  absl::Status OnCut(const CutTimes& cut, Vec model) override;
  absl::Status OnDeath(Rank rank, Nanoseconds now) override;
  absl::Status OnReturn(Rank rank, Round from, Nanoseconds now) override;
  std::set<Rank> Lost() const;
  // Returns the models of the workers that are not lost.
  std::vector<SharedVector> LivingOf(std::span<const SharedVector> models) const;
  absl::Status OnMeasured(const MeasuredRound& measured);
  // Returns an error if a model that is to be averaged is not finite, as real nodes do.
  absl::Status CheckModels(const MeasuredRound& measured) const;
  // Returns the number of ranks, from 0 on, that have a model that counts.
  Rank measured_nodes() const;
  // Evaluates the averaged model of a measured round, which may end the run.
  absl::StatusOr<EvaluationRecord> Evaluate(const AveragedModel& average,
                                            const MeasuredRound& measured);
  absl::StatusOr<Summary> Conclude();
  absl::StatusOr<std::optional<Spread>> EvaluateNodes();
  std::optional<ServerLinks> LinksOfServers() const;
  // Returns the totals by rank, for a run whose nodes share a budget of gradients.
  std::vector<NodeTotals> Totals() const;

  const Experiment* const experiment_;
  const SimulatedRunOptions options_;
  const std::unique_ptr<RunCourse> course_;
  std::optional<Checkpoint> resumed_;
  EarlierTraffic before_;  // traffic until the checkpoint, if the run continues
  std::map<Rank, HeldGradient> held_;

  std::unique_ptr<SimulatedCluster> cluster_;
  std::unique_ptr<SimulatedChaos> chaos_;  // --chaos; else null
  std::unique_ptr<const ComputeTime> compute_;
  std::unique_ptr<ViewMixing> views_;  // --on-failure=shrink
  std::unique_ptr<VectorStore> vectors_;
  std::unique_ptr<Evaluator> evaluator_;  // null if nothing learns
  std::unique_ptr<Simulation> simulation_;
  std::unique_ptr<RoundCollector> collector_;
  std::unique_ptr<StepStatistics> statistics_;
  std::unique_ptr<ChromeTrace> trace_;      // --trace
  std::unique_ptr<SimTrace> trace_writer_;  // set with trace_
  ObserverGroup observers_;  // this run, its statistics, trace, chaos and checkpoints
  std::unique_ptr<SimulatedCheckpoints> checkpoints_;   // --checkpoint-every
  std::unique_ptr<SimulatedNodeMetrics> node_metrics_;  // null for a phantom with rounds
  std::unique_ptr<LineFile> metrics_file_;
  std::unique_ptr<LineFile> events_;  // null without --tensorboard
  Rank workers_ = 0;                  // ranks from here on are servers
  RunHorizon horizon_;
  std::vector<SharedVector> last_models_;  // by rank, of the round that met the target
  RunMeter meter_;  // counts evaluations' messages too, though they take no simulated time
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_SIMULATED_SIMULATED_RUN_H_
