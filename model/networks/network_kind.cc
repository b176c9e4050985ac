#include "model/networks/network_kind.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/tensor/cpu/cpu_tensor_device.h"

namespace grapevine {
Registry<NetworkKind>& Networks() {
  static auto* const networks = new Registry<NetworkKind>("network");
  return *networks;
}

absl::StatusOr<std::unique_ptr<Network>> MakeNetwork(std::string_view spec, ImageShape input,
                                                     int64_t classes, const NetworkOptions& options,
                                                     std::unique_ptr<TensorDevice> device) {
  ASSIGN_OR_RETURN(const auto named, Networks().Read(spec));
  SpecReader reader(named.spec);
  NetworkBuilder builder(named.spec.text, input);
  const NetworkBuilder::Tensor logits = named.kind->describe(reader, classes, builder);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(NetworkGraph graph, builder.Build(logits));
  if (graph.classes() != classes) {
    return SpecError(
        spec, absl::StrCat("describes ", graph.classes(), " logits for ", classes, " classes"));
  }
  if (device == nullptr) device = std::make_unique<CpuTensorDevice>();
  return std::make_unique<GraphNetwork>(std::move(graph), std::move(device), options);
}

}  // namespace grapevine
