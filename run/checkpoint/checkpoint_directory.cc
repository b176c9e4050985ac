#include "run/checkpoint/checkpoint_directory.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "model/files/safetensors.h"
#include "run/checkpoint/checkpoint_files.h"
#include "run/records/output_file.h"
#include "run/records/run_files.h"
#include "system/file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

std::string CheckpointsPath(const std::string& run) {
  return absl::StrCat(run, "/", kCheckpointsFolder);
}
std::string ManifestPath(const std::string& checkpoint) {
  return absl::StrCat(checkpoint, "/", kManifestFile);
}

bool HasManifest(const std::string& checkpoint) {
  std::error_code error;
  return fs::is_regular_file(ManifestPath(checkpoint), error);
}

std::optional<Round> RoundOf(const std::string& folder) {
  constexpr std::string_view kPrefix = kCheckpointPrefix;
  Round round = 0;
  if (!folder.starts_with(kPrefix)) return std::nullopt;
  if (!absl::SimpleAtoi(folder.substr(kPrefix.size()), &round) || round < 0) return std::nullopt;
  return round;
}

using Folders = std::map<Round, std::string, std::greater<>>;

// Returns all folders of checkpoints, last rounds first, including those without a manifest.
absl::StatusOr<Folders> FoldersIn(const std::string& run) {
  Folders folders;
  std::error_code error;
  fs::directory_iterator entry(CheckpointsPath(run), error);
  if (error == std::errc::no_such_file_or_directory) return folders;
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::optional<Round> round = RoundOf(entry->path().filename().string());
    std::error_code gone;  // the folder may disappear meanwhile
    if (round && entry->is_directory(gone)) folders[*round] = entry->path().string();
  }
  if (error) return InputError(CheckpointsPath(run), "cannot be read", error.value());
  return folders;
}

// Returns the folders of checkpoints that are about to be written or removed: errors are kOutput.
absl::StatusOr<Folders> OwnFolders(const std::string& run) {
  absl::StatusOr<Folders> folders = FoldersIn(run);
  if (!folders.ok()) return AsOutputStatus(folders.status());
  return folders;
}

absl::Status RemoveOld(const std::string& run) {
  ASSIGN_OR_RETURN(const Folders folders, OwnFolders(run));
  int kept = 0;
  for (const auto& [round, folder] : folders) {
    if (HasManifest(folder) && kept++ < kKeptCheckpoints) continue;
    if (kept > 0) RETURN_IF_ERROR(RemoveCheckpoint(folder));  // a later one may be under way
  }
  return absl::OkStatus();
}

bool NamesACheckpoint(const fs::path& path) {
  return RoundOf(path.filename().string()) && path.parent_path().filename() == kCheckpointsFolder;
}

// Makes a path canonical: "runs/ring/checkpoints/round-20/" is a checkpoint, too.
fs::path Canonical(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error || canonical.has_filename() ? canonical : canonical.parent_path();
}

absl::Status RemoveManifest(const std::string& checkpoint) {
  std::error_code error;
  fs::remove(ManifestPath(checkpoint), error);
  if (error) return OutputFolderError(error, "remove", ManifestPath(checkpoint));
  return AsOutputStatus(SyncFolder(checkpoint));
}

absl::StatusOr<Folders> CompleteIn(const std::string& run) {
  ASSIGN_OR_RETURN(Folders folders, FoldersIn(run));
  std::erase_if(folders, [](const auto& folder) { return !HasManifest(folder.second); });
  return folders;
}

// Returns a list of the rounds: "those of rounds 40, 20".
std::string Listed(const Folders& folders) {
  return absl::StrCat(folders.size() == 1 ? "that of round " : "those of rounds ",
                      absl::StrJoin(folders, ", ", [](std::string* text, const auto& folder) {
                        absl::StrAppend(text, folder.first);
                      }));
}

// Returns advice on where else to go on from.
std::string Before(const std::string& checkpoint, Round round) {
  const std::string run = RunOf(checkpoint);
  const absl::StatusOr<Folders> folders = CompleteIn(run);
  if (!folders.ok()) return "";
  for (const auto& [earlier, folder] : *folders) {
    if (earlier >= round) continue;
    return absl::StrCat("go on from the one before it with --resume=", folder);
  }
  return absl::StrCat("there is none before it in ", run);
}

absl::Status Damaged(const std::string& checkpoint, Round round, const absl::Status& why) {
  return InputError(absl::StrCat(std::string(why.message()), "; the checkpoint of round ", round,
                                 " is damaged, ", Before(checkpoint, round)));
}

absl::StatusOr<Checkpoint> ReadCheckpoint(const std::string& path, Round round) {
  absl::StatusOr<CheckpointManifest> manifest = ReadManifest(ManifestPath(path));
  if (!manifest.ok()) return Damaged(path, round, manifest.status());
  if (manifest->round() == round) return Checkpoint{path, *std::move(manifest)};
  return Damaged(path, round,
                 InputError(ManifestPath(path), absl::StrCat("is of round ", manifest->round())));
}

absl::Status RemoveFile(const fs::path& path) {
  std::error_code error;
  fs::remove(path, error);
  return error ? OutputFolderError(error, "remove", path.string()) : absl::OkStatus();
}

absl::Status RemoveNodePart(const std::string& checkpoint, Rank rank) {
  RETURN_IF_ERROR(RemoveFile(NodePartPath(checkpoint, rank)));
  RemoveAbandonedFiles(checkpoint);
  std::error_code error;
  fs::remove(checkpoint, error);  // fails in a shared folder: others still have parts there
  return absl::OkStatus();
}

}  // namespace

std::string CheckpointPath(const std::string& run, Round round) {
  return absl::StrCat(CheckpointsPath(run), "/", kCheckpointPrefix, round);
}
std::string NodePartPath(const std::string& checkpoint, Rank rank) {
  return absl::StrCat(checkpoint, "/node-", rank, ".safetensors");
}
std::string ModelPartPath(const std::string& checkpoint) {
  return absl::StrCat(checkpoint, "/", kModelFile);
}

absl::StatusOr<std::string> BeginCheckpoint(const std::string& run, Round round) {
  const std::string checkpoint = CheckpointPath(run, round);
  std::error_code error;
  if (fs::exists(checkpoint, error)) RETURN_IF_ERROR(RemoveCheckpoint(checkpoint));
  return OpenCheckpoint(run, round);
}

absl::StatusOr<std::string> OpenCheckpoint(const std::string& run, Round round) {
  std::string checkpoint = CheckpointPath(run, round);
  RETURN_IF_ERROR(CreateFolders(checkpoint));
  RemoveAbandonedFiles(checkpoint);
  RETURN_IF_ERROR(AsOutputStatus(SyncFolder(CheckpointsPath(run))));
  RETURN_IF_ERROR(AsOutputStatus(SyncFolder(run)));
  return checkpoint;
}

absl::StatusOr<CheckpointPart> WriteNodePart(const std::string& checkpoint, Rank rank,
                                             const NodeState& state) {
  const std::string path = NodePartPath(checkpoint, rank);
  RETURN_IF_ERROR(WriteNodeState(path, rank, state));
  return LookAtPart(path);
}

absl::Status CompleteCheckpoint(const std::string& run, const std::string& checkpoint,
                                const CheckpointManifest& manifest, const WriteGuard& guard) {
  RETURN_IF_ERROR(WriteOutputFile(ManifestPath(checkpoint), ToText(manifest), guard));
  return IfPermitted(guard, [&] { return RemoveOld(run); });
}

absl::Status RemoveCheckpoint(const std::string& checkpoint) {
  // Removes the manifest first: what is left after a power failure is no checkpoint.
  RETURN_IF_ERROR(RemoveManifest(checkpoint));
  return RemoveCheckpointFiles(checkpoint);
}

absl::Status RemoveIncompleteCheckpoints(const std::string& run) {
  ASSIGN_OR_RETURN(const Folders folders, OwnFolders(run));
  for (const auto& [round, folder] : folders) {
    if (!HasManifest(folder)) RETURN_IF_ERROR(RemoveCheckpoint(folder));
  }
  return absl::OkStatus();
}

absl::Status RemoveCheckpointsAfter(const std::string& run, Round round) {
  ASSIGN_OR_RETURN(const Folders folders, OwnFolders(run));
  for (const auto& [later, folder] : folders) {
    if (later > round) RETURN_IF_ERROR(RemoveCheckpoint(folder));
  }
  return absl::OkStatus();
}

absl::Status InvalidateCheckpointsAfter(const std::string& run, Round round) {
  ASSIGN_OR_RETURN(const Folders folders, OwnFolders(run));
  for (const auto& [later, folder] : folders) {
    if (later > round) RETURN_IF_ERROR(RemoveManifest(folder));
  }
  return absl::OkStatus();
}

absl::Status RemoveNodeParts(const std::string& run, Rank rank,
                             const std::function<bool(Round)>& keep) {
  ASSIGN_OR_RETURN(const Folders folders, OwnFolders(run));
  for (const auto& [round, folder] : folders) {
    if (!keep(round)) RETURN_IF_ERROR(RemoveNodePart(folder, rank));
  }
  return absl::OkStatus();
}

std::string RunOf(const std::string& path) {
  const fs::path canonical = Canonical(path);
  return NamesACheckpoint(canonical) ? canonical.parent_path().parent_path().string() : path;
}

bool HasCheckpoints(const std::string& run) {
  const absl::StatusOr<Folders> folders = FoldersIn(run);
  return folders.ok() && !folders->empty();
}

absl::StatusOr<Checkpoint> FindCheckpoint(const std::string& path, Round before) {
  const std::string run = RunOf(path);
  ASSIGN_OR_RETURN(const Folders folders, CompleteIn(run));
  if (run == path && folders.empty()) {
    return InputError(absl::StrCat(path,
                                   " has no complete checkpoint; runs with "
                                   "--checkpoint-every have some in ",
                                   CheckpointsPath(path)));
  }
  const auto last =
      std::ranges::find_if(folders, [before](const auto& folder) { return folder.first < before; });
  const std::string found =
      run == path ? (last == folders.end() ? folders.begin() : last)->second : path;
  if (!HasManifest(found)) {
    return InputError(absl::StrCat(path, " is no complete checkpoint; ", run, " has ",
                                   folders.empty() ? "none" : Listed(folders)));
  }
  return ReadCheckpoint(found, *RoundOf(Canonical(found).filename().string()));
}

absl::StatusOr<NodeState> ReadNodePart(const Checkpoint& checkpoint, Rank rank) {
  const std::string path = NodePartPath(checkpoint.path, rank);
  const Round round = checkpoint.manifest.round();
  const CheckpointPart& part = PartOf(checkpoint.manifest, rank);
  absl::StatusOr<NodeState> state = ReadNodeState(path, rank, &part);
  if (!state.ok()) return Damaged(checkpoint.path, round, state.status());
  if (state->round == RoundsIn(checkpoint.manifest, part)) return state;
  return Damaged(checkpoint.path, round,
                 InputError(path, absl::StrCat("is of round ", state->round)));
}

absl::StatusOr<SharedVector> ReadModelInPart(const Checkpoint& checkpoint, Rank rank) {
  absl::StatusOr<SharedVector> model =
      ReadNodeModel(NodePartPath(checkpoint.path, rank), rank, PartOf(checkpoint.manifest, rank));
  if (model.ok()) return model;
  return Damaged(checkpoint.path, checkpoint.manifest.round(), model.status());
}

absl::Status ReadModelPart(const Checkpoint& checkpoint, const ReplicaLayout& layout,
                           float* replica) {
  const std::string path = ModelPartPath(checkpoint.path);
  const auto load = [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const Safetensors file, Safetensors::Open(path));
    RETURN_IF_ERROR(CheckPart(path, file.bytes(), checkpoint.manifest.model()));
    return file.Load(layout, replica);
  };
  const absl::Status loaded = load();
  if (loaded.ok()) return loaded;
  return Damaged(checkpoint.path, checkpoint.manifest.round(), loaded);
}

absl::StatusOr<std::map<Round, CheckpointPart>> NodePartsIn(const std::string& path, Rank rank) {
  const fs::path canonical = Canonical(path);
  Folders folders;
  if (NamesACheckpoint(canonical)) {
    folders[*RoundOf(canonical.filename().string())] = canonical.string();
  } else {
    ASSIGN_OR_RETURN(folders, FoldersIn(path));
  }
  std::map<Round, CheckpointPart> parts;
  for (const auto& [round, folder] : folders) {
    const std::string part = NodePartPath(folder, rank);
    std::error_code error;
    if (!fs::exists(part, error)) continue;
    ASSIGN_OR_RETURN(parts[round], LookAtPart(part));
  }
  return parts;
}

}  // namespace grapevine
