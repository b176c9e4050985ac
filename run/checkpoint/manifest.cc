#include "run/checkpoint/manifest.h"

#include <google/protobuf/text_format.h>

#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/counted.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "kernels/passes/crc32c.h"
#include "run/text_proto.h"
#include "system/file.h"

namespace grapevine {
namespace {

using google::protobuf::TextFormat;

constexpr int kMostNodes = 1'000'000;
// Sums with the rounds of any run stay numbers.
constexpr int64_t kMostRounds = int64_t{1} << 48;

std::string WhatIsWrong(const CheckpointManifest& manifest) {
  if (manifest.version() != kManifestVersion) {
    return absl::StrCat("its format is version ", manifest.version(), ", and this program reads ",
                        kManifestVersion);
  }
  if (!manifest.has_round() || manifest.round() < 0 || manifest.round() > kMostRounds) {
    return "it names no round that a run can have";
  }
  if (manifest.nodes().empty() || manifest.nodes_size() > kMostNodes) {
    return absl::StrCat("it lists the parts of ", manifest.nodes_size(), " nodes");
  }
  for (const CheckpointPart& part : manifest.nodes()) {
    if (part.bytes() <= 0 || !part.has_checksum()) return "a node's part lacks bytes or checksum";
    if (!CanBeCounted(part.bytes_sent()) || !CanBeCounted(part.bytes_received())) {
      return "a count is none of a run's";
    }
  }
  if (manifest.has_model() && (manifest.model().bytes() <= 0 || !manifest.model().has_checksum())) {
    return "the model lacks bytes or checksum";
  }
  if (!CanBeCounted(manifest.time_ns())) return "its time is none of a run's";
  std::set<std::string> names;
  for (const CheckpointSetting& setting : manifest.settings()) {
    if (setting.name().empty() || !names.insert(setting.name()).second) {
      return "a setting has no name, or is there twice";
    }
  }
  return "";
}

absl::StatusOr<CheckpointManifest> Checked(const std::string& name, CheckpointManifest manifest) {
  const std::string wrong = WhatIsWrong(manifest);
  if (!wrong.empty()) return InputError(name, wrong);
  return manifest;
}

CheckpointPart PartOf(std::span<const uint8_t> bytes) {
  CheckpointPart part;
  part.set_bytes(static_cast<int64_t>(bytes.size()));
  part.set_checksum(Crc32c(0, bytes.data(), bytes.size()));
  return part;
}

}  // namespace

std::string ToText(const CheckpointManifest& manifest) {
  std::string text;
  TextFormat::PrintToString(manifest, &text);
  return text;
}

absl::StatusOr<CheckpointManifest> ParseManifest(const std::string& name, std::string_view text) {
  CheckpointManifest manifest;
  TextFormat::ParseInfoTree positions;
  RETURN_IF_ERROR(ParseTextProto(name, text, Failure::kInput, &manifest, &positions));
  return Checked(name, std::move(manifest));
}

absl::StatusOr<CheckpointManifest> ReadManifest(const std::string& path) {
  CheckpointManifest manifest;
  TextFormat::ParseInfoTree positions;
  RETURN_IF_ERROR(ReadTextProto(path, Failure::kInput, &manifest, &positions));
  return Checked(path, std::move(manifest));
}

absl::StatusOr<CheckpointPart> LookAtPart(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  return PartOf((*file)->bytes());
}

absl::Status CheckPart(const std::string& path, std::span<const uint8_t> bytes,
                       const CheckpointPart& part) {
  const CheckpointPart found = PartOf(bytes);
  if (found.bytes() == part.bytes() && found.checksum() == part.checksum()) {
    return absl::OkStatus();
  }
  return InputError(
      path, absl::StrCat("is not what was written: it has ", found.bytes(), " bytes with checksum ",
                         absl::Hex(found.checksum(), absl::kZeroPad8), ", of ", part.bytes(),
                         " with ", absl::Hex(part.checksum(), absl::kZeroPad8)));
}

}  // namespace grapevine
