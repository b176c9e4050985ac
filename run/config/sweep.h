// Lists in a configuration: `--topology=ring,torus --nodes=4,8` is a grid of four.
#ifndef GRAPEVINE_RUN_CONFIG_SWEEP_H_
#define GRAPEVINE_RUN_CONFIG_SWEEP_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// One configuration of a grid.
struct SweepCell {
  ResolvedConfig resolved;
  // What distinguishes it, in the order of config.proto: {"topology", "ring"}.
  std::vector<std::pair<std::string, std::string>> coordinates;
  // The same as the name of a folder: "topology=ring_nodes=4".
  std::string label;
};

// The fields that may hold a list: topology, algorithm, nodes, bandwidth,
// latency, straggler, seed.
bool IsSweepable(const std::string& field);

// All combinations of the lists among the flags and the environment, the last
// field fastest; one cell without a label when there is no list. Errors are
// those of ResolveConfig for the first bad cell, or kUsage for an empty element
// and for more cells than kMaxCells.
absl::StatusOr<std::vector<SweepCell>> ResolveSweep(const ConfigSources& sources);

inline constexpr size_t kMaxCells = 100'000;

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_SWEEP_H_
