// What --device means: "cpu", "cuda" (the first GPU), "cuda:2", or "cuda:auto", which
// spreads the nodes of a machine over its GPUs.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_RUN_CONFIG_DEVICE_SPEC_H_
#define GRAPEVINE_RUN_CONFIG_DEVICE_SPEC_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"

namespace grapevine {

struct DeviceSpec {
  bool cuda = false;         // else the CPU
  std::optional<int> index;  // of the GPU; absent: chosen automatically

  // The GPU for the node with this local rank on a machine with `gpus`, at least 1.
  int Gpu(int local_rank, int gpus) const { return index ? *index : local_rank % gpus; }
};

// InvalidArgument (kUsage) names the known forms.
absl::StatusOr<DeviceSpec> ParseDevice(std::string_view text);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_DEVICE_SPEC_H_
