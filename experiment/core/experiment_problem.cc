#include "experiment/core/experiment_problem.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "experiment/core/local_processes.h"
#include "model/data/prefetched_batches.h"
#include "model/problem/network_problem.h"
#include "model/problem/phantom_problem.h"
#include "model/problem/quadratic_problem.h"
#include "run/config/flag_error.h"
#include "run/config/model_kind.h"

namespace grapevine {
namespace {

// "phantom:SIZE"
absl::StatusOr<std::unique_ptr<Problem>> MakePhantom(const Spec& spec, const Config& config) {
  SpecReader reader(spec);
  const std::string size = reader.Argument();
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const int64_t bytes, ParseSize(size));
  constexpr int64_t kElement = sizeof(float);
  if (bytes < kElement) return SpecError(spec.text, "a replica has at least one fp32 number (4B)");
  return std::make_unique<PhantomProblem>(
      PhantomOptions{.elements = bytes / kElement, .batch_size = config.batch()});
}

absl::StatusOr<std::unique_ptr<Problem>> MakeQuadratic(const Spec& spec, const Config& config,
                                                       Rank workers) {
  ASSIGN_OR_RETURN(QuadraticProblemOptions options, ParseQuadratic(spec));
  options.nodes = workers;
  options.batch_size = config.batch();
  options.seed = config.seed();
  return std::make_unique<QuadraticProblem>(options);
}

// No node sees a sample twice in one batch.
absl::Status CheckBatch(const Config& config, const Shards& shards, size_t samples) {
  const auto smallest = std::ranges::min_element(shards, {}, &std::vector<int32_t>::size);
  if (static_cast<size_t>(config.batch()) <= smallest->size()) return absl::OkStatus();
  return WithFailure(absl::InvalidArgumentError(absl::StrCat(
                         "--batch=", config.batch(), ": node ", smallest - shards.begin(),
                         " has only ", smallest->size(), " of the ", samples,
                         " samples; lower it, or take fewer nodes or another --split")),
                     Failure::kUsage);
}

absl::StatusOr<std::unique_ptr<Problem>> MakeNetworkProblem(const Config& config, Rank workers,
                                                            DatasetCache* cache) {
  absl::StatusOr<TrainTest> data =
      cache != nullptr ? cache->Get(config.data()) : MakeDataset(config.data());
  if (!data.ok()) return NamingFlag("--data", config.data(), data.status());
  absl::StatusOr<Shards> shards =
      SplitOverNodes(config.split(), data->train->labels(), workers, config.seed());
  if (!shards.ok()) return NamingFlag("--split", config.split(), shards.status());
  RETURN_IF_ERROR(CheckBatch(config, *shards, data->train->labels().size()));
  const int threads = PrefetchThreads(*data->train, LocalProcesses(), config.device() != "cpu");
  ASSIGN_OR_RETURN(auto problem, NetworkProblem::Make({.network = config.model(),
                                                       .data = *std::move(data),
                                                       .shards = *std::move(shards),
                                                       .batch_size = config.batch(),
                                                       .label_smoothing = config.label_smoothing(),
                                                       .seed = config.seed(),
                                                       .prefetch = {.threads = threads}}));
  return problem;
}

absl::StatusOr<std::unique_ptr<Problem>> Make(const Config& config, Rank workers,
                                              DatasetCache* cache) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(config.model()));
  switch (KindOf(config)) {
    case ModelKind::kPhantom:
      return MakePhantom(spec, config);
    case ModelKind::kQuadratic:
      return MakeQuadratic(spec, config, workers);
    case ModelKind::kNetwork:
      return MakeNetworkProblem(config, workers, cache);
  }
  return absl::InternalError("a model of no kind");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Problem>> MakeProblem(const Config& config, Rank workers,
                                                     DatasetCache* cache) {
  absl::StatusOr<std::unique_ptr<Problem>> problem = Make(config, workers, cache);
  if (!problem.ok()) return NamingFlag("--model", config.model(), problem.status());
  return problem;
}

}  // namespace grapevine
