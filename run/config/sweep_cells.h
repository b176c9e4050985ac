// Lists of values span a grid of configurations: `--topology=ring,torus --lr=0.1,0.2` gives four.
//
// Every setting that describes a run may be a list (DescribesRun in run/config/config_field.h). A
// comma that belongs to a value, for example in a path, is written `\,`, and a backslash before it
// `\\`.
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
  // The values that distinguish the cell, in the order of config.proto and in canonical form:
  // {"topology", "ring"}.
  std::vector<std::pair<std::string, std::string>> coordinates;
  // The coordinates as the name of a folder, different for every cell: "topology=ring_nodes=4". At
  // most kLongestLabel bytes.
  std::string label;
};

// Whether a field of this name may be a list. A field of which a run may have several values
// (--slow) may not: its list could belong to one run or to a sweep.
bool IsSweepable(const std::string& field);

// Returns all combinations of the lists that the flags and the environment have for `fields`, the
// last field varying fastest; a single cell without a label if there is no list. Errors are those
// of ResolveConfig for the first bad cell, or kUsage: an element of a list is empty or repeats an
// earlier one, a list is of a field that may not be one or that another setting replaces, or there
// are more than kMaxCells cells.
absl::StatusOr<std::vector<SweepCell>> ResolveSweep(
    const ConfigSources& sources, const std::vector<const ConfigField*>& fields = ConfigFields());

// Returns a value as an element of a list: its commas are written `\,`, its backslashes `\\`.
std::string ListElement(std::string_view value);

// Unescapes the values of a command that takes no lists, which are written like elements of lists:
// a text means the same to all commands. A comma that is not escaped belongs to the value, too.
ConfigSources SingleValues(ConfigSources sources);

inline constexpr size_t kMaxCells = 100'000;
inline constexpr size_t kLongestLabel = 200;

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_SWEEP_CELLS_H_
