// What the values of a configuration mean that have a notation of their own: the device of a node,
// and which nodes of the run are slow.
//
// Values and pure functions, safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_CONFIG_VALUES_H_
#define GRAPEVINE_RUN_CONFIG_CONFIG_VALUES_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"
#include "run/timing/compute_time.h"

namespace grapevine {

// What --device means: "cpu", "cuda" (the first GPU), "cuda:2", or "cuda:auto", which spreads the
// nodes of a machine over its GPUs.
struct DeviceSpec {
  bool cuda = false;         // else the CPU
  std::optional<int> index;  // of the GPU; absent: chosen automatically

  // The GPU for the node with this local rank on a machine with `gpus`, at least 1.
  int Gpu(int local_rank, int gpus) const { return index ? *index : local_rank % gpus; }
};

// InvalidArgument (kUsage) names the known forms.
absl::StatusOr<DeviceSpec> ParseDevice(std::string_view text);

// Which nodes are slow: from --straggler and --slow, for the first `nodes` ranks. Errors are those
// of Stragglers::Make.
absl::StatusOr<Stragglers> ConfiguredStragglers(const Config& config, Rank nodes);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_VALUES_H_
