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
  // Builds the experiment of `config`, which must be valid (run/config/config_resolve.h), and loads
  // its data set; several experiments can share a data set through `cache`. Errors are kUsage and
  // name the flag with its value, or kInput and name the file.
  static absl::StatusOr<std::unique_ptr<Experiment>> Build(const Config& config,
                                                           DatasetCache* cache = nullptr);
  // Builds an experiment for a problem that no spec names; see Build. The model and the data of
  // `config` are not read.
  static absl::StatusOr<std::unique_ptr<Experiment>> BuildFor(std::unique_ptr<Problem> problem,
                                                              const Config& config);
  // Builds an experiment on a graph that no spec names; see Build. `mixing` must have the nodes of
  // `config`, whose topology and mixing are not read.
  static absl::StatusOr<std::unique_ptr<Experiment>> BuildOn(std::shared_ptr<const Mixing> mixing,
                                                             const Config& config);

  const Config& config() const { return config_; }
  const Mixing& mixing() const { return *mixing_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  const Problem& problem() const { return *problem_; }
  const ReplicaLayout& layout() const { return problem_->layout(); }
  // The canonical spec of the algorithm: "dpsgd:order=awc".
  const std::string& algorithm_name() const { return config_.algorithm(); }

  // The number of workers. The ranks below it compute gradients and hold a model; the ranks from it
  // on are parameter servers (algorithm/algorithm.h).
  Rank workers() const { return workers_; }
  // Whether the run has more or fewer nodes than it was planned for, and all of them compute
  // gradients.
  bool changed() const {
    return workers_ == config_.nodes() && PlannedNodes(config_) != config_.nodes();
  }
  // The plan of a run: what is known of it before it begins.
  const RunPlan& plan() const { return plan_; }
  // Makes the course of one run, which the experiment must outlive.
  std::unique_ptr<RunCourse> NewCourse() const;
  // The number of rounds of a run; the most that it can have if its batch grows at plateaus.
  Round rounds() const { return plan_.rounds; }
  // Whether all nodes go through these rounds together. Otherwise the workers share a budget of as
  // many gradients, rounds are nominal, and a fast node does more.
  bool has_rounds() const { return has_rounds_; }
  // The global batch of round 0, which is the samples of all workers together, and the largest that
  // it can become.
  int64_t global_batch() const { return FirstGlobalBatch(config_, workers_); }
  int64_t LargestGlobalBatch() const { return plan_.batches.LargestGrowth() * global_batch(); }
  // How --scale-lr fits the learning rate to that batch, if it does, and the resulting rate.
  const std::optional<RateScaling>& rate_scaling() const { return rate_scaling_; }
  double learning_rate() const {
    return config_.lr() * (rate_scaling_ ? rate_scaling_->factor : 1);
  }
  // The largest norm that a neighbour's message may have (algorithm/receiving.h).
  double max_norm() const { return config_.has_max_norm() ? config_.max_norm() : kAnyNorm; }
  EvaluatedModel evaluated() const { return evaluated_; }
  // Makes the horizon of a run with this course, before its first evaluation.
  RunHorizon HorizonOf(RunCourse* course, bool settles_last = false) const;

  // Whether gradients take the time of --compute instead of their own.
  bool has_compute() const { return compute_ != nullptr; }
  const Stragglers& stragglers() const { return stragglers_; }
  // The faults that are injected on purpose (--chaos); random faults are already drawn.
  const FaultSchedule& faults() const { return faults_; }

  // The parts of one run, which the course and the experiment must outlive:
  // Returns how long gradients take, stragglers included; null if they take their own time.
  std::unique_ptr<const ComputeTime> MakeCompute(const RunCourse* course) const;
  absl::StatusOr<std::unique_ptr<Algorithm>> MakeAlgorithm(Rank rank,
                                                           const RunCourse* course) const;
  // Makes an algorithm that goes over to other views, and tells the course of them. `views` must be
  // the run's (NewViews) and outlive the algorithm.
  absl::StatusOr<std::unique_ptr<Algorithm>> MakeResilientAlgorithm(Rank rank, RunCourse* course,
                                                                    ViewMixing* views) const;
  // Whether nodes go on without those that are lost (--on-failure=shrink).
  bool shrinks() const { return GoesOnWithoutTheLost(config_); }
  // Whether a run may have other views than the first: if nodes go on without lost ones, and for
  // checkpoints of nodes that do not go through rounds together.
  bool changes_views() const { return shrinks() || renews_views(); }
  bool renews_views() const { return config_.has_checkpoint_every() && !has_rounds(); }
  // Makes the graph and the weights of the nodes that go on, for the views of one run.
  std::unique_ptr<ViewMixing> NewViews() const;
  // Whether another node may take over rank 0's role when rank 0 is lost. It may not if the growth
  // of the batch depends on all evaluations, if nodes share a budget, or if some nodes are servers.
  bool role_moves() const;
  // Makes what the workers from `first` to `last` - 1 minimize, for one thread
  // (Problem::MakeObjectives). Gradients are over all passes of a round; with --clip-norm, clipped;
  // with --norms, measured in the rounds that end in an evaluation; with --on-failure=shrink, over
  // the data of lost nodes as well.
  absl::StatusOr<std::vector<std::unique_ptr<Objective>>> MakeObjectives(
      Rank first, Rank last, const ComputeContext& context, const RunCourse* course) const;
  // Writes the starting replica, of layout().size elements: the weights of --init-from, or drawn
  // ones.
  absl::Status Initialize(float* replica) const;
  // Returns AlgorithmOptions::window for the algorithm of this node.
  int WindowFor(Rank rank) const;
  // Returns the most bytes that the vectors of a node take, with a window of 1.
  absl::StatusOr<int64_t> VectorBytes() const;

 private:
  explicit Experiment(Config config) : config_(std::move(config)) {}

  // Builds what depends on the roles, the graph and the problem, which must be built before.
  absl::Status BuildRest();
  absl::Status BuildRoles();
  absl::Status BuildGraph();
  absl::Status BuildCompute();
  absl::Status BuildTraining();
  absl::Status BuildFaults();
  absl::Status CheckNoiseScale() const;
  absl::Status BuildSchedule();
  // Returns the view with only those of its members that compute gradients.
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
  std::unique_ptr<const ComputeTime> compute_;  // time of one pass, without stragglers
  Schedule schedule_;
  std::optional<RateScaling> rate_scaling_;
  RunPlan plan_;
  FaultSchedule faults_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_EXPERIMENT_H_
