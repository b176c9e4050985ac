// Everything that a configuration names, built and checked: graph, weights, data, network,
// optimizer, schedule and duration.
//
// Nodes and the simulator get their parts from here, so that the same configuration means the
// same experiment in both.
#ifndef GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_H_
#define GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/membership/view_mixing.h"
#include "algorithm/receiving.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/core/failure_policy.h"
#include "experiment/core/run_course.h"
#include "experiment/core/run_plan.h"
#include "kernels/vector/replica_layout.h"
#include "model/network/compute_context.h"
#include "model/problem/objective.h"
#include "model/problem/problem.h"
#include "optim/learning_rate.h"
#include "optim/optimizer.h"
#include "run/chaos/fault_schedule.h"
#include "run/config/config.pb.h"
#include "run/timing/compute_time.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Immutable once built; safe from any thread. The objects that it makes are independent.
class Experiment {
 public:
  // Loads the data set; with a `cache`, several experiments share it. `config` is valid
  // (run/config/config_resolve.h). Errors are kUsage and name the flag with its value, or kInput
  // and name the file.
  static absl::StatusOr<std::unique_ptr<Experiment>> Build(const Config& config,
                                                           DatasetCache* cache = nullptr);
  // The same for a problem that no spec names: the model of `config` is not read, its data neither.
  static absl::StatusOr<std::unique_ptr<Experiment>> BuildFor(std::unique_ptr<Problem> problem,
                                                              const Config& config);
  // The same on a graph that no spec names: it has the nodes of `config`, whose topology and mixing
  // are not read.
  static absl::StatusOr<std::unique_ptr<Experiment>> BuildOn(std::shared_ptr<const Mixing> mixing,
                                                             const Config& config);

  const Config& config() const { return config_; }
  const Mixing& mixing() const { return *mixing_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  const Problem& problem() const { return *problem_; }
  const ReplicaLayout& layout() const { return problem_->layout(); }
  // Canonical spec: "dpsgd:order=awc".
  const std::string& algorithm_name() const { return config_.algorithm(); }

  // The ranks from 0 on that compute gradients and hold a model; the ranks after them are
  // parameter servers (algorithm/algorithm.h).
  Rank workers() const { return workers_; }
  // Whether the run goes on with more or fewer nodes than it was planned for, all of which compute.
  bool changed() const {
    return workers_ == config_.nodes() && PlannedNodes(config_) != config_.nodes();
  }
  // What is known of a run before it begins; and a run's own, which the experiment outlives.
  const RunPlan& plan() const { return plan_; }
  std::unique_ptr<RunCourse> NewCourse() const;
  // The rounds of a run: where its batch grows at plateaus, so many at most.
  Round rounds() const { return plan_.rounds; }
  // Whether all nodes do these rounds together. Otherwise the workers share a budget of as many
  // gradients, rounds are nominal, and a fast node does more.
  bool has_rounds() const { return has_rounds_; }
  // Of round 0: the samples of all workers together; and the most that it can become.
  int64_t global_batch() const { return FirstGlobalBatch(config_, workers_); }
  int64_t LargestGlobalBatch() const { return plan_.batches.LargestGrowth() * global_batch(); }
  // How --scale-lr fits the rate to that batch, if it does; and the rate that follows.
  const std::optional<RateScaling>& rate_scaling() const { return rate_scaling_; }
  double learning_rate() const {
    return config_.lr() * (rate_scaling_ ? rate_scaling_->factor : 1);
  }
  // Of a neighbour's message (algorithm/receiving.h).
  double max_norm() const { return config_.has_max_norm() ? config_.max_norm() : kAnyNorm; }
  // Which model is evaluated.
  EvaluatedModel evaluated() const { return evaluated_; }
  // Of a run with this course, before its first evaluation.
  RunHorizon HorizonOf(RunCourse* course, bool settles_last = false) const;

  // Whether gradients take the time of --compute, rather than their own.
  bool has_compute() const { return compute_ != nullptr; }
  const Stragglers& stragglers() const { return stragglers_; }
  // What goes wrong on purpose (--chaos); random faults are drawn.
  const FaultSchedule& faults() const { return faults_; }

  // What a run has, of a course that outlives it, as the experiment does:
  // How long gradients take, stragglers included; null if they take their own time.
  std::unique_ptr<const ComputeTime> MakeCompute(const RunCourse* course) const;
  absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(Rank rank,
                                                           const RunCourse* course) const;
  // One that goes over to other views, and says so to the course; `views` are the run's (NewViews),
  // and outlive it.
  absl::StatusOr<std::unique_ptr<Algorithm>> MakeResilientAlgorithm(Rank rank, RunCourse* course,
                                                                    ViewMixing* views) const;
  // Whether nodes go on without those that are lost (--on-failure=shrink), and the graph and
  // weights of those who do, one of each run.
  bool shrinks() const { return GoesOnWithoutTheLost(config_); }
  // Whether there may be other views than the first: then, and for checkpoints of nodes that go
  // through no rounds together.
  bool changes_views() const { return shrinks() || renews_views(); }
  bool renews_views() const { return config_.has_checkpoint_every() && !has_rounds(); }
  std::unique_ptr<ViewMixing> NewViews() const;
  // Whether another node may take over rank 0's role then: not where how the batch grows depends on
  // all evaluations, nodes share a budget, or some are servers.
  bool role_moves() const;
  // What the workers from `first` to `last` - 1 minimize, for one thread (Problem::MakeObjectives):
  // over all passes of a round; with --clip-norm, clipped; with --norms, measured in the rounds
  // that end in an evaluation; with --on-failure=shrink, over the data of the lost as well.
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      Rank first, Rank last, const ComputeContext& context, const RunCourse* course) const;
  // The starting replica, of layout().size elements: --init-from, or drawn.
  absl::Status Initialize(float* replica) const;
  // AlgorithmOptions::window of a node's algorithm.
  int WindowFor(Rank rank) const;
  // The most bytes that the vectors of a node have, with a window of 1.
  absl::StatusOr<int64_t> VectorBytes() const;

 private:
  explicit Experiment(Config config) : config_(std::move(config)) {}

  // After the roles, the graph and the problem.
  absl::Status BuildRest();
  absl::Status BuildRoles();
  absl::Status BuildGraph();
  absl::Status BuildCompute();
  absl::Status BuildTraining();
  absl::Status BuildFaults();
  absl::Status CheckNoiseScale() const;
  absl::Status BuildSchedule();
  // Those of its members who compute gradients.
  View TrainersOf(View view) const;
  AlgorithmOptions OptionsFor(Rank rank, const RunCourse* course) const;
  RunLength length() const {
    return {.rounds = plan_.batches.plateau() || plan_.open_ended ? 0 : plan_.rounds,
            .rounds_per_epoch = problem_->data() ? plan_.extent.rounds_per_epoch : 0};
  }

  Config config_;
  Rank workers_ = 0;
  bool has_rounds_ = true;
  EvaluatedModel evaluated_ = EvaluatedModel::kWorkersMean;
  std::shared_ptr<const Mixing> mixing_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<Problem> problem_;
  Stragglers stragglers_;
  std::unique_ptr<const ComputeTime> compute_;  // of one pass, without stragglers
  Schedule schedule_;
  std::optional<RateScaling> rate_scaling_;
  RunPlan plan_;
  FaultSchedule faults_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_H_
