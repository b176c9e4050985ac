#include "report/page/model_distances.h"

#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "model/files/safetensors.h"

namespace grapevine {
namespace {

using Tensor = Safetensors::Tensor;

// Returns whether the tensor is a statistic of a batch norm, which is averaged with the weights but
// is none of them.
bool IsBuffer(const std::string& name) {
  return absl::EndsWith(name, ".running_mean") || absl::EndsWith(name, ".running_var");
}

absl::StatusOr<std::vector<Safetensors>> OpenAll(const std::vector<std::string>& paths) {
  std::vector<Safetensors> models;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) {
      return InputError(absl::StrCat(path, " is not here"));
    }
    ASSIGN_OR_RETURN(Safetensors model, Safetensors::Open(path));
    models.push_back(std::move(model));
  }
  return models;
}

// Returns the tensor of this name in each of the models.
absl::StatusOr<std::vector<const Tensor*>> TensorsNamed(const std::vector<std::string>& paths,
                                                        const std::vector<Safetensors>& models,
                                                        const std::string& name) {
  std::vector<const Tensor*> tensors;
  for (size_t i = 0; i < models.size(); ++i) {
    const auto found = models[i].tensors().find(name);
    const bool same = found != models[i].tensors().end() && found->second.dtype == "F32" &&
                      (tensors.empty() || found->second.shape == tensors.front()->shape);
    if (!same) {
      return InputError(absl::StrCat(paths[i], " does not have the tensor ", ShownName(name),
                                     " as ", paths.front(), " has it"));
    }
    tensors.push_back(&found->second);
  }
  return tensors;
}

double ElementOf(const Tensor& tensor, size_t index) {
  float value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(value), sizeof(value));
  return value;
}

void AddDistances(const std::vector<const Tensor*>& tensors, std::vector<double>* distances) {
  const size_t size = tensors.front()->bytes.size() / sizeof(float);
  std::vector<double> mean(size);
  for (const Tensor* tensor : tensors) {
    for (size_t i = 0; i < size; ++i) mean[i] += ElementOf(*tensor, i);
  }
  for (double& element : mean) element /= static_cast<double>(tensors.size());
  for (size_t node = 0; node < tensors.size(); ++node) {
    for (size_t i = 0; i < size; ++i) {
      const double difference = ElementOf(*tensors[node], i) - mean[i];
      (*distances)[node] += difference * difference;
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<double>> ModelDistances(const std::vector<std::string>& paths) {
  ASSIGN_OR_RETURN(const std::vector<Safetensors> models, OpenAll(paths));
  std::vector<double> distances(models.size());
  for (const auto& [name, tensor] : models.front().tensors()) {
    if (tensor.dtype != "F32" || IsBuffer(name)) continue;
    ASSIGN_OR_RETURN(const std::vector<const Tensor*> tensors, TensorsNamed(paths, models, name));
    AddDistances(tensors, &distances);
  }
  return distances;
}

}  // namespace grapevine
