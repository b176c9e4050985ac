// The meaning of configuration values that have a notation of their own: the device of a node, and
// which nodes of the run are slow.
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

// The meaning of --device: "cpu", "cuda" (the first GPU), "cuda:2", or "cuda:auto", which spreads
// the nodes of a machine over its GPUs.
struct DeviceSpec {
  bool cuda = false;         // else the CPU
  std::optional<int> index;  // index of the GPU; absent: chosen automatically

  // Returns the GPU for the node with this local rank on a machine with `gpus` GPUs, at least 1.
  int Gpu(int local_rank, int gpus) const { return index ? *index : local_rank % gpus; }
};

// Parses the value of --device. Errors are InvalidArgument (kUsage) and name the known forms.
absl::StatusOr<DeviceSpec> ParseDevice(std::string_view text);

// Returns which of the first `nodes` ranks are slow, according to --straggler and --slow. Errors
// are those of Stragglers::Make.
absl::StatusOr<Stragglers> ConfiguredStragglers(const Config& config, Rank nodes);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_CONFIG_VALUES_H_
