// Which files in a run's folders are the run's own, by their names, and their removal: what anybody
// else has put beside them stays.
//
// Stateless. Errors are kOutput and name the path.
#ifndef GRAPEVINE_RUN_RECORDS_RUN_FILES_H_
#define GRAPEVINE_RUN_RECORDS_RUN_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

inline constexpr char kConfigFile[] = "config.textproto";
inline constexpr char kEventFilePrefix[] = "events.out.tfevents.";
inline constexpr char kCheckpointsFolder[] = "checkpoints";
inline constexpr char kCheckpointPrefix[] = "round-";
inline constexpr char kManifestFile[] = "manifest.textproto";
inline constexpr char kModelFile[] = "model.safetensors";
inline constexpr char kInputsFile[] = "cell-inputs.txt";

// Removes the run's files, those of its nodes and of its checkpoints too, and the folders that are
// empty then. config.textproto stays, so that this is still a run directory.
absl::Status RemoveRunFiles(const std::string& run);

// And config.textproto, last. The folder stays, and so does the caller's lock of it.
absl::Status RemoveRun(const std::string& run);

// Those of one checkpoint, complete or not, and its folder if it is empty then.
absl::Status RemoveCheckpointFiles(const std::string& checkpoint);

// What a node of an earlier run has left in its folder; an empty file does not count.
absl::StatusOr<std::vector<std::string>> NodeFilesIn(const std::string& folder);

// Whether a file of this name is one that is being written, or was by a process that has died
// (AtomicFile).
bool IsUnfinished(std::string_view name);

// Removes the unfinished files in a folder whose writers have died. For whoever opens a folder:
// what another process is writing there stays.
void RemoveAbandonedFiles(const std::string& folder);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_FILES_H_
