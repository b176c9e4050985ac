// Files of weights (model/files/safetensors.h).
#include "model/files/safetensors.h"

#include <glog/logging.h>

#include "kernels/vector/replica_layout.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(safetensors) {
  (void)ParseSafetensorsHeader(fuzz::Text(data, size));
  const fuzz::InputFile input(data, size);
  const auto file = Safetensors::Open(input.path());
  if (!file.ok()) {
    fuzz::RequireClass(file.status(), Failure::kInput);
    CHECK_LT(file.status().message().size(), 4000u);
    return;
  }
  // Tensors tile the data, and a model of just them can be loaded.
  ReplicaLayout layout;
  size_t bytes = 0;
  for (const auto& [name, tensor] : file->tensors()) {
    bytes += tensor.bytes.size();
    if (tensor.dtype == "F32") layout.AddParameter(name, tensor.shape);
  }
  CHECK_LE(bytes, size);
  std::vector<float> replica(static_cast<size_t>(layout.size));
  const absl::Status loaded = file->Load(layout, replica.data());
  if (!loaded.ok()) fuzz::RequireClass(loaded, Failure::kInput);
}

}  // namespace
}  // namespace grapevine
