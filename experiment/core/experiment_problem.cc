#include "experiment/core/experiment_problem.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/registry.h"
#include "base/spec.h"
#include "base/status.h"
#include "experiment/core/run_plan.h"
#include "model/data/dataset_batches.h"
#include "model/networks/network_kind.h"
#include "model/problem/network_problem.h"
#include "model/problem/problem.h"
#include "optim/run_position.h"
#include "run/config/resolved_config.h"

namespace grapevine {
namespace {

// Returns how many processes of a run share this machine, as this process's launcher says in its
// environment (LOCAL_WORLD_SIZE, as torchrun and `train` do, or Open MPI's variable); 1 if it does
// not. Slurm gives each process its own processors instead.
int LocalProcesses() {
  for (const char* variable : {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"}) {
    const char* const text = std::getenv(variable);
    int processes = 0;
    if (text != nullptr && absl::SimpleAtoi(text, &processes) && processes > 0) return processes;
  }
  return 1;
}

// Checks that no node sees a sample twice in one batch.
absl::Status CheckBatch(const Config& config, const RunPlan& plan, const Shards& shards,
                        size_t samples) {
  const auto smallest = std::ranges::min_element(shards, {}, &std::vector<int32_t>::size);
  const auto batch = static_cast<size_t>(config.batch());
  const auto passes = static_cast<size_t>(plan.MostPasses());
  if (passes <= smallest->size() / batch) return absl::OkStatus();
  if (passes > 1) {
    return UsageError(absl::StrCat(
        "--batch=", config.batch(), ": ", passes, " such batches are ", passes * batch,
        " samples, and node ", smallest - shards.begin(), " has only ", smallest->size(),
        " of the ", samples, "; lower it, --accumulate or what --batch-schedule multiplies it by"));
  }
  return UsageError(absl::StrCat("--batch=", config.batch(), ": node ", smallest - shards.begin(),
                                 " has only ", smallest->size(), " of the ", samples,
                                 " samples; lower it, or take fewer nodes or another --split"));
}

// Returns --augment-until in passes; without the flag, the largest number.
absl::StatusOr<int64_t> AugmentedPasses(const Config& config, const RunPlan& plan,
                                        const TrainTest& data) {
  if (!config.has_augment_until()) return std::numeric_limits<int64_t>::max();
  const auto refuse = [&](const std::string& why) {
    return UsageError(absl::StrCat("--augment-until=", config.augment_until(), ": ", why));
  };
  if (data.train->traits().augmentation.none()) {
    return refuse(absl::StrCat("--data=", config.data(), " is not augmented; drop it"));
  }
  const absl::StatusOr<double> rounds = ParseRunPosition(config.augment_until(), plan.extent);
  if (!rounds.ok()) return refuse(std::string(rounds.status().message()));
  return std::llround(*rounds) * plan.passes;
}

// Extends an error about a data set by the folder that a relative path in `data` refers to:
// "mnist:data" is another folder for a run that goes on from elsewhere.
absl::Status SayingRelativeToWhat(const std::string& data, const absl::Status& status) {
  const size_t colon = data.find(':');
  const bool relative = colon != data.npos && !data.substr(colon + 1).starts_with('/');
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  if (FailureOf(status) != Failure::kInput || !relative || error) return status;
  return InputError(absl::StrCat(std::string(status.message()), "; --data=", data,
                                 " is relative to the current folder, ", here));
}

absl::StatusOr<std::unique_ptr<Problem>> MakeNetworkProblem(const Config& config, Rank workers,
                                                            DatasetCache* cache) {
  absl::StatusOr<TrainTest> data =
      cache != nullptr ? cache->Get(config.data()) : MakeDataset(config.data());
  if (!data.ok()) {
    return NamingFlag("--data", config.data(), SayingRelativeToWhat(config.data(), data.status()));
  }
  absl::StatusOr<Shards> shards =
      SplitOverNodes(config.split(), data->train->labels(), workers, config.seed());
  if (!shards.ok()) return NamingFlag("--split", config.split(), shards.status());
  ASSIGN_OR_RETURN(const RunPlan plan, PlanRun(config, workers, &*data));
  RETURN_IF_ERROR(CheckBatch(config, plan, *shards, data->train->labels().size()));
  ASSIGN_OR_RETURN(const int64_t augmented_passes, AugmentedPasses(config, plan, *data));
  const int threads = PrefetchThreads(*data->train, LocalProcesses(), config.device() != "cpu");
  ASSIGN_OR_RETURN(auto problem, NetworkProblem::Make({.network = config.model(),
                                                       .data = *std::move(data),
                                                       .shards = *std::move(shards),
                                                       .batch_size = config.batch(),
                                                       .label_smoothing = config.label_smoothing(),
                                                       .augmented_rounds = augmented_passes,
                                                       .seed = config.seed(),
                                                       .prefetch = {.threads = threads}}));
  return problem;
}

// Returns what --model may name: networks, then problems without data.
std::vector<Listing> KnownModels() {
  std::vector<Listing> models = Networks().Listings();
  for (Listing& problem : Problems().Listings()) models.push_back(std::move(problem));
  return models;
}

absl::StatusOr<std::unique_ptr<Problem>> Make(const Config& config, Rank workers,
                                              DatasetCache* cache) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(config.model()));
  if (const ProblemKind* problem = Problems().Find(spec.name)) {
    return problem->make(spec,
                         {.nodes = workers, .batch_size = config.batch(), .seed = config.seed()});
  }
  if (spec.text == kOutsideModel) {
    return UsageError(
        "is of a program that computes its gradients itself, in Python or C, and runs only there; "
        "choose a model that grapevine computes");
  }
  if (Networks().Find(spec.name) != nullptr) return MakeNetworkProblem(config, workers, cache);
  return UnknownNameError("model", spec.text, spec.name, KnownModels());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Problem>> MakeProblem(const Config& config, Rank workers,
                                                     DatasetCache* cache) {
  absl::StatusOr<std::unique_ptr<Problem>> problem = Make(config, workers, cache);
  if (!problem.ok()) return NamingFlag("--model", config.model(), problem.status());
  return problem;
}

}  // namespace grapevine
