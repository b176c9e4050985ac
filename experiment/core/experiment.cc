#include "experiment/core/experiment.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "experiment/core/experiment_problem.h"
#include "experiment/core/model_settings.h"
#include "experiment/core/whole_tensors.h"
#include "model/files/safetensors.h"
#include "optim/schedule.h"
#include "run/config/configured_stragglers.h"
#include "run/config/flag_error.h"

namespace grapevine {
namespace {

// Per epoch, unless --log-every is given.
constexpr double kMeasurementsPerEpoch = 20;
// Receive buffers for a second round are posted if they take no more than this.
constexpr int64_t kEagerWindowBytes = int64_t{64} << 20;

// For random matchings, which never repeat: in one of so many rounds a node has a peer.
constexpr Round kSampledRounds = 32;

Rank LargestInDegree(const Topology& topology, Rank rank) {
  Rank largest = 0;
  const Round rounds = topology.period() > 0 ? topology.period() : kSampledRounds;
  for (Round round = 0; round < rounds; ++round) {
    largest = std::max(largest, topology.Degree(rank, round));
  }
  return largest;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Experiment>> Experiment::Build(const Config& config,
                                                              DatasetCache* cache) {
  RETURN_IF_ERROR(CheckModelSettings(config));
  std::unique_ptr<Experiment> experiment(new Experiment(config));
  RETURN_IF_ERROR(experiment->BuildRoles());
  RETURN_IF_ERROR(experiment->BuildGraph());
  ASSIGN_OR_RETURN(experiment->problem_, MakeProblem(config, experiment->workers_, cache));
  RETURN_IF_ERROR(experiment->BuildCompute());
  RETURN_IF_ERROR(experiment->BuildTraining());
  // Reports the algorithm's errors before anything starts.
  if (auto algorithm = experiment->MakeAlgorithm(0); !algorithm.ok()) {
    return NamingFlag("--algorithm", config.algorithm(), algorithm.status());
  }
  if (config.has_init_from()) {
    std::vector<float> replica(experiment->layout().size);
    RETURN_IF_ERROR(experiment->Initialize(replica.data()));
  }
  return experiment;
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
  return absl::OkStatus();
}

absl::Status Experiment::BuildGraph() {
  absl::StatusOr<std::shared_ptr<const Topology>> topology =
      MakeTopology(config_.topology(), config_.nodes(), config_.seed());
  if (!topology.ok()) return NamingFlag("--topology", config_.topology(), topology.status());
  absl::StatusOr<std::shared_ptr<const Mixing>> mixing =
      MakeMixing(config_.mixing(), *std::move(topology));
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
  ASSIGN_OR_RETURN(std::unique_ptr<const ComputeTime> compute,
                   MakeComputeTime(config_.compute(), config_.seed()));
  compute_ = WithStragglers(std::move(compute), stragglers_);
  return absl::OkStatus();
}

absl::Status Experiment::BuildTraining() {
  absl::StatusOr<std::unique_ptr<Optimizer>> optimizer =
      MakeOptimizer(config_.optimizer(),
                    {.momentum = config_.momentum(), .weight_decay = config_.weight_decay()});
  if (!optimizer.ok()) return NamingFlag("--optimizer", config_.optimizer(), optimizer.status());
  optimizer_ = *std::move(optimizer);
  RETURN_IF_ERROR(CheckWholeTensors(config_, *optimizer_, layout()));
  if (const TrainTest* data = problem_->data()) {
    rounds_per_epoch_ =
        static_cast<double>(data->train->size()) / static_cast<double>(global_batch());
  }
  rounds_ = config_.has_rounds()
                ? config_.rounds()
                : static_cast<Round>(std::ceil(config_.epochs() * rounds_per_epoch_ - 1e-9));
  log_every_ = config_.log_every() > 0
                   ? config_.log_every()
                   : std::max<Round>(1, std::llround(rounds_per_epoch_ / kMeasurementsPerEpoch));
  absl::StatusOr<Schedule> schedule =
      MakeSchedule(config_.schedule(), {.base_rate = config_.lr(),
                                        .rounds_per_epoch = rounds_per_epoch_,
                                        .rounds = std::max<Round>(rounds_, 1)});
  if (!schedule.ok()) return NamingFlag("--schedule", config_.schedule(), schedule.status());
  learning_rate_ = *std::move(schedule);
  return absl::OkStatus();
}

double Experiment::Epoch(Round completed) const {
  return static_cast<double>(completed) / rounds_per_epoch_;
}

TrainingPoint Experiment::At(Round completed) const {
  return {.round = completed,
          .epoch = Epoch(completed),
          .learning_rate = learning_rate_(completed - 1)};
}

bool Experiment::Evaluated(Round completed) const {
  if (!problem_->learns() || completed == 0) return false;
  if (completed == rounds_) return true;
  // Whether a multiple of eval_every lies in this round.
  const double every = config_.eval_every() * rounds_per_epoch_;
  return std::floor((static_cast<double>(completed) + 1e-9) / every) >
         std::floor((static_cast<double>(completed - 1) + 1e-9) / every);
}

bool Experiment::Measured(Round completed) const {
  return completed % log_every_ == 0 || completed == rounds_ || Evaluated(completed);
}

AccuracyTarget Experiment::target() const {
  std::optional<double> accuracy;
  if (config_.has_target_accuracy()) accuracy = config_.target_accuracy();
  return AccuracyTarget(accuracy, rounds_,
                        [this](Round completed) { return Evaluated(completed); });
}

int Experiment::WindowFor(Rank rank) const {
  if (config_.window() > 0) return config_.window();
  const int64_t bytes = LargestInDegree(mixing_->topology(), rank) * layout().size *
                        static_cast<int64_t>(sizeof(float));
  return bytes <= kEagerWindowBytes ? 2 : 1;
}

absl::StatusOr<std::unique_ptr<Algorithm>> Experiment::MakeAlgorithm(Rank rank) const {
  return grapevine::MakeAlgorithm(config_.algorithm(), {.rank = rank,
                                                        .mixing = mixing_,
                                                        .learning_rate = learning_rate_,
                                                        .window = WindowFor(rank),
                                                        .length = length(),
                                                        .seed = config_.seed()});
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
