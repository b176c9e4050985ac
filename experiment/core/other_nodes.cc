#include "experiment/core/other_nodes.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "model/problem/averaged_model.h"
#include "run/config/config_file.h"
#include "run/records/output_file.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

Rank Servers(const Experiment& experiment) {
  return experiment.config().nodes() - experiment.workers();
}

// Returns the ranks of the workers' parts in the checkpoint. Servers have the last ranks, and are
// never lost.
std::vector<Rank> WorkersIn(const CheckpointManifest& manifest, const Experiment& experiment) {
  std::vector<Rank> ranks = MembersOf(manifest);
  const auto servers = static_cast<size_t>(Servers(experiment));
  ranks.resize(ranks.size() - std::min(ranks.size(), servers));
  return ranks;
}

// Returns the ranks of the servers' parts in the checkpoint.
std::vector<Rank> ServersIn(const CheckpointManifest& manifest, const Experiment& experiment) {
  const std::vector<Rank> ranks = MembersOf(manifest);
  const auto workers = static_cast<ptrdiff_t>(WorkersIn(manifest, experiment).size());
  return {ranks.begin() + workers, ranks.end()};
}

absl::StatusOr<SharedVector> ModelIn(const Checkpoint& checkpoint, Rank rank) {
  ASSIGN_OR_RETURN(SharedVector model, ReadModelInPart(checkpoint, rank));
  if (model.size > 0) return model;
  return InputError(NodePartPath(checkpoint.path, rank), "has no model");
}

// Checks the model in a worker's part, which must be whole.
absl::Status CheckWhole(Rank rank, const SharedVector& model, int64_t size) {
  if (model.size == size) return absl::OkStatus();
  return InputError(absl::StrCat("the part of rank ", rank, " has a model of ", model.size,
                                 " elements, of ", size));
}

// Returns the ranks from `from` on whose folders are in the run directory.
std::vector<Rank> RanksIn(const std::string& run, Rank from) {
  std::vector<Rank> ranks;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(run, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    Rank rank = 0;
    const bool is_nodes =
        name.starts_with("node-") && absl::SimpleAtoi(name.substr(name.find('-') + 1), &rank);
    if (is_nodes && rank >= from) ranks.push_back(rank);
  }
  return ranks;
}

absl::Status RetireNode(const std::string& folder, Round round) {
  RETURN_IF_ERROR(AsOutputStatus(KeepLinesUntil(MetricsPath(folder), round).status()));
  std::error_code error;
  const std::string model = ModelPath(folder);
  std::filesystem::remove(model, error);
  return error ? OutputFolderError(error, "remove", model) : absl::OkStatus();
}

}  // namespace

bool BeginsAtMean(const Checkpoint& checkpoint, const Experiment& experiment) {
  const CheckpointManifest& manifest = checkpoint.manifest;
  return !manifest.members().empty() || manifest.nodes_size() != experiment.config().nodes();
}

absl::StatusOr<SharedVector> MeanOf(const Checkpoint& checkpoint, const Experiment& experiment) {
  const ReplicaLayout& layout = experiment.layout();
  if (checkpoint.manifest.has_model()) {
    SharedVector mean = NewSharedVector(layout.size);
    RETURN_IF_ERROR(ReadModelPart(checkpoint, layout, mean.data.get()));
    return mean;
  }
  if (WorkersIn(checkpoint.manifest, experiment).empty()) {
    return InputError(checkpoint.path, "has no node with a model to go on from");
  }
  ASSIGN_OR_RETURN(const AveragedModel counts,
                   ModelThatCounts(checkpoint.manifest, experiment,
                                   [&](Rank rank) { return ModelIn(checkpoint, rank); }));
  return counts.model;
}

absl::StatusOr<AveragedModel> ModelThatCounts(
    const CheckpointManifest& manifest, const Experiment& experiment,
    const std::function<absl::StatusOr<SharedVector>(Rank)>& model) {
  const ReplicaLayout& layout = experiment.layout();
  const Round round = manifest.round();
  if (experiment.evaluated() == EvaluatedModel::kWorkersMean) {
    const std::vector<Rank> workers = WorkersIn(manifest, experiment);
    const auto fetch = [&](Rank place) -> absl::StatusOr<SharedVector> {
      ASSIGN_OR_RETURN(SharedVector whole, model(workers[place]));
      RETURN_IF_ERROR(CheckWhole(workers[place], whole, layout.size));
      return whole;
    };
    return AverageFetched(layout, round, static_cast<Rank>(workers.size()), fetch);
  }
  const std::vector<Rank> servers = ServersIn(manifest, experiment);
  std::vector<SharedVector> shards;
  int64_t size = 0;
  for (const Rank server : servers) {
    ASSIGN_OR_RETURN(shards.emplace_back(), model(server));
    size += shards.back().size;
  }
  if (size == layout.size) return JoinShards(layout, round, shards);
  return InputError(absl::StrCat("the parts of ", servers.size(), " servers have ", size,
                                 " elements of the model, of ", layout.size));
}

EarlierTraffic TrafficUntil(const Checkpoint& checkpoint, const Experiment& experiment) {
  const CheckpointManifest& manifest = checkpoint.manifest;
  EarlierTraffic traffic{.nodes = std::vector<EarlierTraffic::Node>(experiment.config().nodes()),
                         .lost_bytes_sent = manifest.lost_bytes_sent()};
  const Rank workers = experiment.workers();
  const auto had = static_cast<Rank>(WorkersIn(manifest, experiment).size());
  const std::vector<Rank> members = MembersOf(manifest);
  for (Rank place = 0; place < manifest.nodes_size(); ++place) {
    const CheckpointPart& part = manifest.nodes(place);
    const bool works = place < had;
    // A server keeps its number among the servers.
    const Rank now = works ? members[place] : workers + place - had;
    if (now < (works ? workers : experiment.config().nodes())) {
      traffic.nodes[now] = {part.bytes_sent(), part.bytes_received()};
    } else {
      const int64_t lost = traffic.lost_bytes_sent;  // at most kMostCounted, before and after
      traffic.lost_bytes_sent =
          std::min(kMostCounted - part.bytes_sent(), lost) + part.bytes_sent();
    }
  }
  return traffic;
}

std::vector<RunPlan::Living> WorkersSince(const Checkpoint& checkpoint,
                                          const Experiment& experiment) {
  std::vector<RunPlan::Living> workers;
  for (const CheckpointWorkers& since : checkpoint.manifest.history()) {
    workers.push_back({since.from(), since.workers()});
  }
  if (!BeginsAtMean(checkpoint, experiment)) return workers;
  const Round begin = checkpoint.manifest.round();
  if (!workers.empty() && workers.back().from == begin) workers.pop_back();
  workers.push_back({begin, experiment.workers()});
  return workers;
}

RunPlan PlanFrom(const Checkpoint& checkpoint, const Experiment& experiment) {
  RunPlan plan = experiment.plan();
  for (const auto& [from, workers] : WorkersSince(checkpoint, experiment)) {
    plan = plan.Among(from, workers);
  }
  return plan;
}

void AddHistory(const RunPlan& plan, CheckpointManifest* manifest) {
  for (const RunPlan::Living& since : plan.living) {
    if (since.from > manifest->round()) break;
    CheckpointWorkers& workers = *manifest->add_history();
    workers.set_from(since.from);
    workers.set_workers(since.workers);
  }
}

absl::Status ChangeNodesOf(const std::string& run, const Checkpoint& checkpoint,
                           const Experiment& experiment) {
  RETURN_IF_ERROR(WriteOutputFile(ConfigPath(run), ConfigFileText(experiment.config())));
  const Round begin = checkpoint.manifest.round();
  for (const Rank rank : RanksIn(run, experiment.config().nodes())) {
    RETURN_IF_ERROR(RetireNode(NodeDirectory(run, rank), begin));
    // Other nodes will write into the same folders.
    RETURN_IF_ERROR(RemoveNodeParts(run, rank, [begin](Round round) { return round <= begin; }));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
