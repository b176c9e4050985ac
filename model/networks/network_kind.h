// The registration of networks, and a function that makes the network of a spec.
//
// A network of your own registers like those of this folder, and `--model=NAME:key=value` finds it;
// see docs/your-own-model.md.
//
// Thread-safety: a kind is immutable once registered; functions are safe from any thread.
#ifndef GRAPEVINE_MODEL_NETWORKS_NETWORK_KIND_H_
#define GRAPEVINE_MODEL_NETWORKS_NETWORK_KIND_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/registry.h"
#include "base/spec.h"
#include "kernels/tensor/tensor_device.h"
#include "model/network/graph_network.h"
#include "model/network/network.h"
#include "model/network/network_graph.h"

namespace grapevine {

// Describes a network with `classes` logits on `builder` and returns the logits.
// Reads the spec's options from `options`; the caller then refuses options that were not read.
using DescribeNetwork = std::function<NetworkBuilder::Tensor(SpecReader& options, int64_t classes,
                                                             NetworkBuilder& builder)>;

struct NetworkKind {
  std::string name;     // "mlp"
  std::string options;  // "[:width=256]"
  std::string help;     // one line
  DescribeNetwork describe;
};

// The registry of all networks of this program.
Registry<NetworkKind>& Networks();

// Makes the network that `spec` names. It runs on `device`, or on the CPU if `device` is null.
// Errors carry Failure::kUsage and name the spec, what is wrong and the known names.
absl::StatusOr<std::unique_ptr<Network>> MakeNetwork(std::string_view spec, ImageShape input,
                                                     int64_t classes, const NetworkOptions& options,
                                                     std::unique_ptr<TensorDevice> device = {});

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORKS_NETWORK_KIND_H_
