#include "run/checkpoint/checkpoint_files.h"

#include <glog/logging.h>
#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/units.h"
#include "kernels/passes/crc32c.h"
#include "model/files/safetensors.h"
#include "run/text_proto.h"
#include "system/file.h"

namespace grapevine {

namespace {

using google::protobuf::TextFormat;

constexpr int kMostNodes = 1'000'000;
// The largest round accepted: sums with the rounds of any run do not overflow.
constexpr int64_t kMostRounds = int64_t{1} << 48;

// Returns what is wrong with the members and the history of a manifest, or "". It has members if
// other nodes were lost, and a history if the run had other numbers of workers before.
std::string WhatIsWrongWithMembers(const CheckpointManifest& manifest) {
  const auto& members = manifest.members();
  if (!members.empty() && (members.size() != manifest.nodes_size() || members[0] < 0 ||
                           !std::ranges::is_sorted(members, std::ranges::less_equal{}))) {
    return "its members are not the nodes whose parts it lists";
  }
  Round last = -1;
  for (const CheckpointWorkers& since : manifest.history()) {
    if (since.from() <= last || since.from() > manifest.round() || since.workers() < 1 ||
        since.workers() > kMostNodes) {
      return "its history is none of a run's";
    }
    last = since.from();
  }
  return CanBeCounted(manifest.lost_bytes_sent()) ? "" : "a count is none of a run's";
}

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
    if (!CanBeCounted(part.bytes_sent()) || !CanBeCounted(part.bytes_received()) ||
        part.steps() < 0 || part.steps() > kMostRounds) {
      return "a count is none of a run's";
    }
  }
  if (manifest.has_model() && (manifest.model().bytes() <= 0 || !manifest.model().has_checksum())) {
    return "the model lacks bytes or checksum";
  }
  if (!CanBeCounted(manifest.time_ns())) return "its time is none of a run's";
  if (const std::string wrong = WhatIsWrongWithMembers(manifest); !wrong.empty()) return wrong;
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

CheckpointPart Described(std::span<const uint8_t> bytes) {
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

std::vector<Rank> MembersOf(const CheckpointManifest& manifest) {
  if (!manifest.members().empty()) return {manifest.members().begin(), manifest.members().end()};
  std::vector<Rank> all(manifest.nodes_size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

const CheckpointPart& PartOf(const CheckpointManifest& manifest, Rank rank) {
  const auto& members = manifest.members();
  if (members.empty()) return manifest.nodes(rank);
  const auto found = std::ranges::lower_bound(members, rank);
  CHECK(found != members.end() && *found == rank) << "rank " << rank << " has no part";
  return manifest.nodes(static_cast<int>(found - members.begin()));
}

Round RoundsIn(const CheckpointManifest& manifest, const CheckpointPart& part) {
  return part.has_steps() ? part.steps() : manifest.round();
}

absl::StatusOr<CheckpointPart> LookAtPart(const std::string& path) {
  const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  return Described((*file)->bytes());
}

absl::Status CheckPart(const std::string& path, std::span<const uint8_t> bytes,
                       const CheckpointPart& part) {
  const CheckpointPart found = Described(bytes);
  if (found.bytes() == part.bytes() && found.checksum() == part.checksum()) {
    return absl::OkStatus();
  }
  return InputError(
      path, absl::StrCat("is not what was written: it has ", found.bytes(), " bytes with checksum ",
                         absl::Hex(found.checksum(), absl::kZeroPad8), ", of ", part.bytes(),
                         " with ", absl::Hex(part.checksum(), absl::kZeroPad8)));
}

namespace {

constexpr char kRank[] = "rank";
constexpr char kRound[] = "round";
constexpr char kModel[] = "model";               // its value is the name of a vector
constexpr std::string_view kNumber = "number.";  // precedes the names of numbers

// Returns the shortest form from which every double is read again to the bit.
std::string Exact(double number) { return absl::StrFormat("%.17g", number); }

absl::StatusOr<int64_t> WholeNumber(const std::string& path, const SafetensorsMetadata& metadata,
                                    const char* name) {
  const auto found = metadata.find(name);
  int64_t number = 0;
  if (found != metadata.end() && absl::SimpleAtoi(found->second, &number) && number >= 0) {
    return number;
  }
  return InputError(path, absl::StrCat("says no ", name, "; is it a node's part of a checkpoint?"));
}

absl::StatusOr<SharedVector> Elements(const std::string& path, const std::string& name,
                                      const Safetensors::Tensor& tensor) {
  if (tensor.dtype != "F32" || tensor.shape.size() != 1) {
    return InputError(path, absl::StrCat("'", ShownName(name), "' is no vector of type F32"));
  }
  SharedVector vector = NewSharedVector(tensor.shape.front());
  if (!tensor.bytes.empty()) {
    std::memcpy(vector.data.get(), tensor.bytes.data(), tensor.bytes.size());
  }
  return vector;
}

absl::Status CheckRank(const std::string& path, const SafetensorsMetadata& metadata, Rank rank) {
  ASSIGN_OR_RETURN(const int64_t written, WholeNumber(path, metadata, kRank));
  if (written == rank) return absl::OkStatus();
  return InputError(path, absl::StrCat("is the part of rank ", written, ", not of ", rank));
}

}  // namespace

absl::Status WriteNodeState(const std::string& path, Rank rank, const NodeState& state) {
  std::vector<SafetensorsTensor> tensors;
  for (const auto& [name, vector] : state.vectors) {
    tensors.push_back({.name = name, .shape = {vector.size}, .elements = vector.span()});
  }
  SafetensorsMetadata metadata = {{kRank, absl::StrCat(rank)}, {kRound, absl::StrCat(state.round)}};
  if (!state.model.empty()) metadata[kModel] = state.model;
  for (const auto& [name, number] : state.numbers) {
    metadata[std::string(kNumber) + name] = Exact(number);
  }
  return WriteSafetensors(path, tensors, metadata);
}

absl::StatusOr<NodeState> ReadNodeState(const std::string& path, Rank rank,
                                        const CheckpointPart* part) {
  ASSIGN_OR_RETURN(const Safetensors file, Safetensors::Open(path));
  if (part != nullptr) RETURN_IF_ERROR(CheckPart(path, file.bytes(), *part));
  RETURN_IF_ERROR(CheckRank(path, file.metadata(), rank));
  NodeState state;
  ASSIGN_OR_RETURN(state.round, WholeNumber(path, file.metadata(), kRound));
  if (const auto model = file.metadata().find(kModel); model != file.metadata().end()) {
    state.model = model->second;
  }
  for (const auto& [name, tensor] : file.tensors()) {
    ASSIGN_OR_RETURN(state.vectors[name], Elements(path, name, tensor));
  }
  for (const auto& [name, text] : file.metadata()) {
    if (!name.starts_with(kNumber)) continue;
    double number = 0;
    if (!absl::SimpleAtod(text, &number)) {
      return InputError(path, absl::StrCat("'", ShownName(name), "' is '", ShownName(text),
                                           "', which is no number"));
    }
    state.numbers[name.substr(kNumber.size())] = number;
  }
  return state;
}

absl::StatusOr<SharedVector> ReadNodeModel(const std::string& path, Rank rank,
                                           const CheckpointPart& part) {
  ASSIGN_OR_RETURN(const Safetensors file, Safetensors::Open(path));
  RETURN_IF_ERROR(CheckPart(path, file.bytes(), part));
  RETURN_IF_ERROR(CheckRank(path, file.metadata(), rank));
  const auto name = file.metadata().find(kModel);
  if (name == file.metadata().end()) return SharedVector{};
  const auto tensor = file.tensors().find(name->second);
  if (tensor != file.tensors().end()) return Elements(path, tensor->first, tensor->second);
  return InputError(path, absl::StrCat("has no '", ShownName(name->second),
                                       "', which is to be the node's model"));
}

}  // namespace grapevine
