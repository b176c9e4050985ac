#include "run/checkpoint/checkpoint_directory.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/checkpoint/node_state_file.h"
#include "run/records/output_file.h"
#include "system/file.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "round-";

std::string CheckpointsPath(const std::string& run) { return run + "/checkpoints"; }
std::string ManifestPath(const std::string& checkpoint) {
  return checkpoint + "/manifest.textproto";
}

bool HasManifest(const std::string& checkpoint) {
  std::error_code error;
  return fs::is_regular_file(ManifestPath(checkpoint), error);
}

std::optional<Round> RoundOf(const std::string& folder) {
  Round round = 0;
  if (!folder.starts_with(kPrefix)) return std::nullopt;
  if (!absl::SimpleAtoi(folder.substr(kPrefix.size()), &round) || round < 0) return std::nullopt;
  return round;
}

// All folders of checkpoints, last rounds first; those without a manifest, too.
absl::StatusOr<std::map<Round, std::string, std::greater<>>> Folders(const std::string& run) {
  std::map<Round, std::string, std::greater<>> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(CheckpointsPath(run), error)) {
    const std::optional<Round> round = RoundOf(entry.path().filename().string());
    if (round && entry.is_directory(error)) folders[*round] = entry.path().string();
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return OutputFolderError(error, "read", CheckpointsPath(run));
  }
  return folders;
}

absl::Status RemoveOld(const std::string& run) {
  ASSIGN_OR_RETURN(const auto folders, Folders(run));
  int kept = 0;
  for (const auto& [round, folder] : folders) {
    if (HasManifest(folder) && kept++ < kKeptCheckpoints) continue;
    if (kept > 0) RETURN_IF_ERROR(RemoveCheckpoint(folder));  // a later one may be under way
  }
  return absl::OkStatus();
}

}  // namespace

std::string CheckpointPath(const std::string& run, Round round) {
  return absl::StrCat(CheckpointsPath(run), "/", std::string(kPrefix), round);
}
std::string NodePartPath(const std::string& checkpoint, Rank rank) {
  return absl::StrCat(checkpoint, "/node-", rank, ".safetensors");
}
std::string ModelPartPath(const std::string& checkpoint) {
  return checkpoint + "/model.safetensors";
}

absl::StatusOr<std::string> BeginCheckpoint(const std::string& run, Round round) {
  std::string checkpoint = CheckpointPath(run, round);
  std::error_code error;
  if (fs::exists(checkpoint, error)) RETURN_IF_ERROR(RemoveCheckpoint(checkpoint));
  RETURN_IF_ERROR(CreateFolders(checkpoint));
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
                                const CheckpointManifest& manifest) {
  RETURN_IF_ERROR(WriteOutputFile(ManifestPath(checkpoint), ToText(manifest)));
  return RemoveOld(run);
}

absl::Status RemoveCheckpoint(const std::string& checkpoint) {
  std::error_code error;
  // First: what is left, if we are killed in between, is no checkpoint.
  fs::remove(ManifestPath(checkpoint), error);
  if (error) return OutputFolderError(error, "remove", ManifestPath(checkpoint));
  RETURN_IF_ERROR(AsOutputStatus(SyncFolder(checkpoint)));
  fs::remove_all(checkpoint, error);
  return error ? OutputFolderError(error, "remove", checkpoint) : absl::OkStatus();
}

absl::Status RemoveCheckpointsAfter(const std::string& run, Round round) {
  ASSIGN_OR_RETURN(const auto folders, Folders(run));
  for (const auto& [later, folder] : folders) {
    if (later > round) RETURN_IF_ERROR(RemoveCheckpoint(folder));
  }
  return absl::OkStatus();
}

std::string RunOf(const std::string& path) {
  if (!HasManifest(path)) return path;
  return fs::weakly_canonical(path).parent_path().parent_path().string();
}

absl::StatusOr<Checkpoint> FindCheckpoint(const std::string& path) {
  std::string found = path;
  if (!HasManifest(path)) {
    ASSIGN_OR_RETURN(const auto folders, Folders(path));
    const auto last = std::ranges::find_if(
        folders, [](const auto& folder) { return HasManifest(folder.second); });
    if (last == folders.end()) {
      return InputError(absl::StrCat(path, " has no complete checkpoint (", path,
                                     "/checkpoints/round-R/manifest.textproto)"));
    }
    found = last->second;
  }
  ASSIGN_OR_RETURN(CheckpointManifest manifest, ReadManifest(ManifestPath(found)));
  return Checkpoint{std::move(found), std::move(manifest)};
}

absl::StatusOr<NodeState> ReadNodePart(const Checkpoint& checkpoint, Rank rank) {
  const std::string path = NodePartPath(checkpoint.path, rank);
  RETURN_IF_ERROR(CheckPart(path, checkpoint.manifest.nodes(rank)));
  ASSIGN_OR_RETURN(NodeState state, ReadNodeState(path, rank));
  if (state.round == checkpoint.manifest.round()) return state;
  return InputError(path, absl::StrCat("is of round ", state.round, ", and the checkpoint of ",
                                       checkpoint.manifest.round()));
}

}  // namespace grapevine
