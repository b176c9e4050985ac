#include "experiment/core/experiment.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/membership/resilient_algorithm.h"
#include "algorithm/view.h"
#include "base/status.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/core/failure_policy.h"
#include "experiment/core/run_course.h"
#include "experiment/core/run_plan.h"
#include "experiment/core/setting_checks.h"
#include "model/files/safetensors.h"
#include "model/problem/objective.h"
#include "model/problem/objective_wrappers.h"
#include "optim/learning_rate.h"
#include "run/config/config_values.h"
#include "run/config/resolved_config.h"

namespace grapevine {
namespace {

// An objective whose node takes over its part of the data of lost nodes, as soon as it comes to a
// round of a view without them (RunCourse::GoOn).
//
// Thread-compatible, like the objective inside.
class DealtObjective final : public ForwardingObjective {
 public:
  // `course` must outlive the objective. `rounds` says whether all nodes come to the first round of
  // a view; otherwise each node begins the view in the round where it is.
  DealtObjective(Member member, std::unique_ptr<Objective> objective, const RunCourse* course,
                 bool rounds)
      : ForwardingObjective(std::move(objective)),
        member_(member),
        course_(course),
        rounds_(rounds) {}

  absl::StatusOr<double> Gradient(const float* replica, int64_t round, float* gradient) override {
    return GradientInParts(replica, round, gradient, nullptr);
  }
  absl::StatusOr<double> GradientInParts(const float* replica, int64_t round, float* gradient,
                                         const FinalFrom& final_from) override;
  double ReadyAt(int64_t from, int64_t round) const override {
    return inside().ReadyAt(from, round);
  }

 private:
  const Member member_;
  const RunCourse* const course_;
  const bool rounds_;
  uint32_t dealt_ = 0;  // the epoch of the view among whose members the data are dealt
};

absl::StatusOr<double> DealtObjective::GradientInParts(const float* replica, int64_t round,
                                                       float* gradient,
                                                       const FinalFrom& final_from) {
  // Views of later rounds must wait: another node of this process may be ahead.
  for (std::optional<View> view = course_->ViewAfter(dealt_);
       view && (!rounds_ || view->from <= round); view = course_->ViewAfter(dealt_)) {
    // A node that comes back has missed some views.
    if (view->RankOf(member_)) DealAgain(rounds_ ? view->from : round, view->members);
    dealt_ = view->epoch;
  }
  return Inside(replica, round, gradient, final_from);
}

// Receive buffers for a second round are posted if they take no more than this.
constexpr int64_t kEagerWindowBytes = int64_t{64} << 20;

Rank LargestInDegree(const Topology& topology, Rank rank) {
  Rank largest = 0;
  for (Round round = 0; round < topology.shown_rounds(); ++round) {
    largest = std::max(largest, topology.Degree(rank, round));
  }
  return largest;
}

// Returns the pairs of nodes that exchange messages, smaller rank first; sorted. The graph must
// repeat.
std::vector<std::pair<Rank, Rank>> EdgesOf(const Topology& topology) {
  std::vector<std::pair<Rank, Rank>> edges;
  std::vector<Rank> neighbours;
  for (Round round = 0; round < topology.period(); ++round) {
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      topology.InNeighbours(rank, round, &neighbours);
      for (const Rank from : neighbours) edges.emplace_back(std::minmax(from, rank));
    }
  }
  std::ranges::sort(edges);
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Compute times that another object owns, which must outlive this one.
class BorrowedTimes final : public ComputeTime {
 public:
  explicit BorrowedTimes(const ComputeTime* owned) : owned_(owned) {}
  int64_t Gradient(Rank rank, Round round) const override { return owned_->Gradient(rank, round); }
  int64_t Gradients(Rank rank, Passes passes) const override {
    return owned_->Gradients(rank, passes);
  }

 private:
  const ComputeTime* const owned_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Experiment>> Experiment::Build(const Config& config,
                                                              DatasetCache* cache) {
  RETURN_IF_ERROR(CheckModelSettings(config));
  std::unique_ptr<Experiment> experiment(new Experiment(config));
  RETURN_IF_ERROR(experiment->BuildRoles());
  RETURN_IF_ERROR(experiment->BuildGraph());
  ASSIGN_OR_RETURN(experiment->problem_, MakeProblem(config, experiment->workers_, cache));
  RETURN_IF_ERROR(experiment->BuildRest());
  return experiment;
}

absl::StatusOr<std::unique_ptr<Experiment>> Experiment::BuildFor(std::unique_ptr<Problem> problem,
                                                                 const Config& config) {
  RETURN_IF_ERROR(CheckModelSettings(config));
  std::unique_ptr<Experiment> experiment(new Experiment(config));
  RETURN_IF_ERROR(experiment->BuildRoles());
  RETURN_IF_ERROR(experiment->BuildGraph());
  experiment->problem_ = std::move(problem);
  RETURN_IF_ERROR(experiment->BuildRest());
  return experiment;
}

absl::StatusOr<std::unique_ptr<Experiment>> Experiment::BuildOn(
    std::shared_ptr<const Mixing> mixing, const Config& config) {
  RETURN_IF_ERROR(CheckModelSettings(config));
  std::unique_ptr<Experiment> experiment(new Experiment(config));
  RETURN_IF_ERROR(experiment->BuildRoles());
  experiment->mixing_ = std::move(mixing);
  ASSIGN_OR_RETURN(experiment->problem_,
                   MakeProblem(config, experiment->workers_, /*cache=*/nullptr));
  RETURN_IF_ERROR(experiment->BuildRest());
  return experiment;
}

absl::Status Experiment::BuildRest() {
  RETURN_IF_ERROR(BuildTraining());
  RETURN_IF_ERROR(BuildCompute());
  RETURN_IF_ERROR(BuildFaults());
  RETURN_IF_ERROR(CheckFailurePolicy(config_, faults_));
  // Reports the algorithm's errors before anything starts.
  const std::unique_ptr<const RunCourse> course = NewCourse();
  if (auto algorithm = MakeAlgorithm(0, course.get()); !algorithm.ok()) {
    return NamingFlag("--algorithm", config_.algorithm(), algorithm.status());
  }
  if (config_.has_init_from()) {
    std::vector<float> replica(layout().size);
    RETURN_IF_ERROR(Initialize(replica.data()));
  }
  return absl::OkStatus();
}

absl::Status Experiment::BuildRoles() {
  absl::StatusOr<Rank> workers = WorkerCount(config_.algorithm(), config_.nodes());
  if (!workers.ok()) return NamingFlag("--algorithm", config_.algorithm(), workers.status());
  workers_ = *workers;
  has_rounds_ = HasRounds(config_.algorithm());
  if (!has_rounds_ && config_.window() > 0) {
    return UsageError(absl::StrCat("--window=", config_.window(),
                                   ": the nodes of --algorithm=", config_.algorithm(),
                                   " go through no rounds together; drop --window, or take dpsgd"));
  }
  evaluated_ = EvaluatedModelOf(config_.algorithm());
  if (!has_rounds_ && config_.batch_schedule() != "none") {
    return UsageError(absl::StrCat("--batch-schedule=", config_.batch_schedule(),
                                   ": the nodes of --algorithm=", config_.algorithm(),
                                   " go through no rounds together; take --accumulate, or dpsgd"));
  }
  return absl::OkStatus();
}

absl::Status Experiment::BuildGraph() {
  absl::StatusOr<std::shared_ptr<const Topology>> topology =
      MakeTopology(config_.topology(), config_.nodes(), config_.seed());
  // A graph and weights that no node uses are not refused.
  if (!topology.ok() && AnyGraphWillDo(config_)) {
    topology = MakeTopology(Config().topology(), config_.nodes(), config_.seed());
  }
  if (!topology.ok()) return NamingFlag("--topology", config_.topology(), topology.status());
  const std::string weights = UsesGraph(config_) ? config_.mixing() : Config().mixing();
  absl::StatusOr<std::shared_ptr<const Mixing>> mixing = MakeMixing(weights, *std::move(topology));
  if (!mixing.ok()) return NamingFlag("--mixing", config_.mixing(), mixing.status());
  mixing_ = *std::move(mixing);
  return absl::OkStatus();
}

absl::Status Experiment::BuildCompute() {
  absl::StatusOr<Stragglers> stragglers = ConfiguredStragglers(config_, workers_);
  if (!stragglers.ok()) {
    if (workers_ == config_.nodes()) return stragglers.status();
    return UsageError(absl::StrCat(std::string(stragglers.status().message()),
                                   " that compute gradients: from rank ", workers_,
                                   " on they are parameter servers"));
  }
  stragglers_ = *std::move(stragglers);
  if (!config_.has_compute()) return absl::OkStatus();
  ASSIGN_OR_RETURN(compute_, MakeComputeTime(config_.compute(), config_.seed()));
  return absl::OkStatus();
}

absl::Status Experiment::BuildFaults() {
  if (config_.chaos_size() == 0) return absl::OkStatus();
  ChaosExtent extent{
      .nodes = config_.nodes(), .workers = workers_, .rounds = plan_.rounds, .edges = {}};
  extent.resilient = shrinks();
  // The messages of other algorithms do not follow the edges of the graph.
  if (!IsCentralized(config_.algorithm()) && workers_ == config_.nodes()) {
    extent.edges = EdgesOf(mixing_->topology());
  }
  const std::vector<std::string> texts(config_.chaos().begin(), config_.chaos().end());
  ASSIGN_OR_RETURN(faults_, MakeFaultSchedule(texts, extent));
  return absl::OkStatus();
}

std::unique_ptr<const ComputeTime> Experiment::MakeCompute(const RunCourse* course) const {
  if (compute_ == nullptr) return nullptr;
  std::unique_ptr<const ComputeTime> compute = std::make_unique<BorrowedTimes>(compute_.get());
  if (plan_.MostPasses() > 1) {
    compute =
        WithPasses(std::move(compute), [course](Round round) { return course->PassesIn(round); });
  }
  return WithStragglers(std::move(compute), stragglers_);
}

absl::Status Experiment::BuildTraining() {
  absl::StatusOr<std::unique_ptr<Optimizer>> optimizer =
      MakeOptimizer(config_.optimizer(),
                    {.momentum = config_.momentum(), .weight_decay = config_.weight_decay()});
  if (!optimizer.ok()) return NamingFlag("--optimizer", config_.optimizer(), optimizer.status());
  optimizer_ = *std::move(optimizer);
  RETURN_IF_ERROR(CheckOptimizerFits(config_, *optimizer_, layout()));
  ASSIGN_OR_RETURN(plan_, PlanRun(config_, workers_, problem_->data()));
  if (!problem_->learns()) plan_.evaluate_every = 0;
  RETURN_IF_ERROR(CheckNoiseScale());
  return BuildSchedule();
}

absl::Status Experiment::CheckNoiseScale() const {
  if (!config_.noise_scale()) return absl::OkStatus();
  if (plan_.MostPasses() > 1) return absl::OkStatus();
  return UsageError(
      absl::StrCat("--noise-scale: compares the batches of a step with each other, "
                   "and there is one of ",
                   config_.batch(), "; divide it: --batch=", std::max(1, config_.batch() / 2),
                   " --accumulate=2"));
}

absl::Status Experiment::BuildSchedule() {
  absl::StatusOr<std::optional<RateScaling>> scaling =
      ScaleRate(config_.scale_lr(), global_batch());
  if (!scaling.ok()) return NamingFlag("--scale-lr", config_.scale_lr(), scaling.status());
  rate_scaling_ = *scaling;
  ScheduleOptions options{.rate = learning_rate(), .run = plan_.extent};
  options.run.rounds = std::max<Round>(options.run.rounds, 1);
  if (rate_scaling_) options.unscaled_rate = config_.lr();
  absl::StatusOr<Schedule> schedule = MakeSchedule(config_.schedule(), options);
  if (!schedule.ok()) return NamingFlag("--schedule", config_.schedule(), schedule.status());
  schedule_ = *std::move(schedule);
  return absl::OkStatus();
}

std::unique_ptr<RunCourse> Experiment::NewCourse() const {
  return std::make_unique<RunCourse>(plan_, schedule_);
}

RunHorizon Experiment::HorizonOf(RunCourse* course, bool settles_last) const {
  std::optional<double> accuracy;
  if (config_.has_target_accuracy()) accuracy = config_.target_accuracy();
  return RunHorizon(accuracy, course, settles_last);
}

absl::StatusOr<int64_t> Experiment::VectorBytes() const {
  ASSIGN_OR_RETURN(const int64_t elements,
                   LargestMemory(algorithm_name(), mixing_->topology(), layout().size,
                                 optimizer_->state_vectors()));
  return elements * static_cast<int64_t>(sizeof(float));
}

int Experiment::WindowFor(Rank rank) const {
  if (config_.window() > 0) return config_.window();
  const int64_t bytes = LargestInDegree(mixing_->topology(), rank) * layout().size *
                        static_cast<int64_t>(sizeof(float));
  return bytes <= kEagerWindowBytes ? 2 : 1;
}

AlgorithmOptions Experiment::OptionsFor(Rank rank, const RunCourse* course) const {
  return {.rank = rank,
          .mixing = mixing_,
          .learning_rate = [course](Round round) { return course->LearningRate(round); },
          .window = WindowFor(rank),
          .length = length(),
          .workers = workers_,
          .seed = config_.seed()};
}

absl::StatusOr<std::unique_ptr<Algorithm>> Experiment::MakeAlgorithm(
    Rank rank, const RunCourse* course) const {
  return grapevine::MakeAlgorithm(config_.algorithm(), OptionsFor(rank, course));
}

absl::StatusOr<std::unique_ptr<Algorithm>> Experiment::MakeResilientAlgorithm(
    Rank rank, RunCourse* course, ViewMixing* views) const {
  const AlgorithmOptions options = OptionsFor(rank, course);
  const auto instance = [this, options, course, views](
                            const View& view,
                            Rank position) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
    AlgorithmOptions of_view = options;
    of_view.rank = position;
    ASSIGN_OR_RETURN(const LivingMixing living, views->Of(view));
    of_view.mixing = living.mixing;
    // The view of a checkpoint may have the same members as the first view.
    if (view.size() < config_.nodes() || view.checkpoint == 0) course->GoOn(TrainersOf(view));
    return grapevine::MakeAlgorithm(config_.algorithm(), std::move(of_view));
  };
  return ResilientAlgorithm::Make({.self = rank,
                                   .first = FirstView(config_.nodes()),
                                   .window = options.window,
                                   .make = instance});
}

View Experiment::TrainersOf(View view) const {
  std::erase_if(view.members, [this](Member member) { return member >= workers_; });
  return view;
}

std::unique_ptr<ViewMixing> Experiment::NewViews() const {
  return std::make_unique<ViewMixing>(
      LivingMixingRequest{.whole = mixing_,
                          .topology = config_.topology(),
                          .mixing = config_.mixing(),
                          .seed = config_.seed(),
                          .usable = UsableWeights(config_.algorithm())});
}

bool Experiment::role_moves() const {
  const bool servers = workers_ < config_.nodes();
  return shrinks() && has_rounds() && !servers && !plan_.batches.plateau();
}

absl::StatusOr<std::vector<std::unique_ptr<Objective>>> Experiment::MakeObjectives(
    Rank first, Rank last, const ComputeContext& context, const RunCourse* course) const {
  ASSIGN_OR_RETURN(std::vector<std::unique_ptr<Objective>> objectives,
                   problem_->MakeObjectives(first, last, context));
  if (plan_.MostPasses() > 1) {
    ASSIGN_OR_RETURN(
        objectives,
        Accumulated(std::move(objectives),
                    {.passes = [course](Round round) { return course->PassesIn(round); },
                     .measures_noise = config_.noise_scale()},
                    context));
  }
  if (config_.has_clip_norm()) {
    for (std::unique_ptr<Objective>& objective : objectives) {
      ASSIGN_OR_RETURN(objective,
                       ClippedObjective::Make(std::move(objective), config_.clip_norm(), context));
    }
  }
  if (config_.norms()) {
    const auto evaluated = [course](Round round) { return course->Evaluated(round + 1); };
    ASSIGN_OR_RETURN(objectives, Normed(std::move(objectives), evaluated, context));
  }
  if (!shrinks()) return objectives;
  for (Member member = first; std::unique_ptr<Objective> & objective : objectives) {
    objective =
        std::make_unique<DealtObjective>(member++, std::move(objective), course, has_rounds_);
  }
  return objectives;
}

absl::Status Experiment::Initialize(float* replica) const {
  if (config_.has_init_from()) {
    ASSIGN_OR_RETURN(Safetensors file, Safetensors::Open(config_.init_from()));
    return file.Load(layout(), replica);
  }
  problem_->Initialize(replica);
  return absl::OkStatus();
}

}  // namespace grapevine
