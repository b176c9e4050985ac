// Lists of values span a grid of configurations: `--topology=ring,torus --lr=0.1,0.2` gives four.
//
// Every setting that describes a run may be a list (DescribesRun in run/config/config_field.h); a
// comma that belongs to a value, as in a path, is written `\,`, and a backslash before it `\\`.
//
// Pure functions, safe from any thread; ResolveSweep reads the file of its sources.
#ifndef GRAPEVINE_RUN_CONFIG_SWEEP_CELLS_H_
#define GRAPEVINE_RUN_CONFIG_SWEEP_CELLS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"

namespace grapevine {

// One configuration of a grid.
struct SweepCell {
  ResolvedConfig resolved;
  // What distinguishes it, in the order of config.proto and in canonical form: {"topology",
  // "ring"}.
  std::vector<std::pair<std::string, std::string>> coordinates;
  // The same as the name of a folder, different for every cell: "topology=ring_nodes=4". At most
  // kLongestLabel bytes.
  std::string label;
};

// Whether a field of this name may be a list. Those that a run may have several of (--slow) may
// not: it could be one run's, or a sweep's.
bool IsSweepable(const std::string& field);

// All combinations of the lists that the flags and the environment have for `fields`, the last
// field varying fastest; a single cell without a label if there is no list. Errors are those of
// ResolveConfig for the first bad cell, or kUsage: an element of a list is empty or repeats an
// earlier one, a list is of a field that may not be one or that another setting replaces, or there
// are more than kMaxCells cells.
absl::StatusOr<std::vector<SweepCell>> ResolveSweep(
    const ConfigSources& sources, const std::vector<const ConfigField*>& fields = ConfigFields());

// A value as an element of a list: its commas are written `\,`, its backslashes `\\`.
std::string ListElement(std::string_view value);

// The texts of a command that takes no lists, with their values written as elements of lists are:
// the same texts mean the same there. A comma that is not escaped belongs to the value, too.
ConfigSources SingleValues(ConfigSources sources);

inline constexpr size_t kMaxCells = 100'000;
inline constexpr size_t kLongestLabel = 200;

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_SWEEP_CELLS_H_
