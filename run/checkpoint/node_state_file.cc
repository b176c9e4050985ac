#include "run/checkpoint/node_state_file.h"

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "model/files/safetensors.h"

namespace grapevine {
namespace {

constexpr char kRank[] = "rank";
constexpr char kRound[] = "round";
constexpr char kModel[] = "model";               // the name of a vector
constexpr std::string_view kNumber = "number.";  // before the names of numbers

// The shortest form from which every double is read again to the bit.
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
