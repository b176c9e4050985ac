// The run's own files in its folders, recognized by their names, and their removal. Files that
// others have put beside them stay.
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

// Removes the run's files, with those of its nodes and checkpoints, and the folders that are empty
// then. config.textproto stays, so that this is still a run directory.
absl::Status RemoveRunFiles(const std::string& run);

// Removes the run's files and, last, config.textproto. The folder stays, and so does the caller's
// lock of it.
absl::Status RemoveRun(const std::string& run);

// Removes the files of one checkpoint, complete or not, and its folder if it is empty then.
absl::Status RemoveCheckpointFiles(const std::string& checkpoint);

// Returns the files that a node of an earlier run has left in its folder, except empty ones.
absl::StatusOr<std::vector<std::string>> NodeFilesIn(const std::string& folder);

// Whether a file of this name is unfinished: a process is writing it, or died while it wrote it
// (AtomicFile).
bool IsUnfinished(std::string_view name);

// Removes the unfinished files in a folder whose writers have died. Files that another process is
// writing stay. Called when a folder is opened.
void RemoveAbandonedFiles(const std::string& folder);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_RUN_FILES_H_
