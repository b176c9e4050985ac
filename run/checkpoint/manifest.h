// The manifest of a checkpoint: of which round it is, of which experiment, and the size and
// checksum of every part. A folder without one is no checkpoint, whatever else is in it.
//
// Input is not trusted. Thread-safety: pure functions.
#ifndef GRAPEVINE_RUN_CHECKPOINT_MANIFEST_H_
#define GRAPEVINE_RUN_CHECKPOINT_MANIFEST_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "run/checkpoint/manifest.pb.h"

namespace grapevine {

constexpr int kManifestVersion = 1;

std::string ToText(const CheckpointManifest& manifest);

// Complete, and with nothing that a manifest cannot say. Errors are kInput and name the file.
absl::StatusOr<CheckpointManifest> ParseManifest(const std::string& name, std::string_view text);
absl::StatusOr<CheckpointManifest> ReadManifest(const std::string& path);

// The size and checksum of a file as it is now. Errors are kInput and name it.
absl::StatusOr<CheckpointPart> LookAtPart(const std::string& path);
// An error if a file with these bytes is not that part.
absl::Status CheckPart(const std::string& path, std::span<const uint8_t> bytes,
                       const CheckpointPart& part);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_MANIFEST_H_
