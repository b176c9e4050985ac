#include "run/config/sweep.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

constexpr std::string_view kSweepable[] = {"topology", "algorithm", "nodes", "bandwidth",
                                           "latency",  "straggler", "seed"};

// One field's list, and where it was given.
struct Axis {
  const ConfigField* field;
  bool flag;  // else a variable
  std::vector<std::string> values;
};

absl::StatusOr<std::vector<Axis>> Axes(const ConfigSources& sources) {
  std::vector<Axis> axes;
  for (const ConfigField* field : ConfigFields()) {
    if (!IsSweepable(field->name())) continue;
    const auto flag = sources.flags.find(field->name());
    const auto variable = sources.environment.find(VariableName(*field));
    const bool by_flag = flag != sources.flags.end();
    if (!by_flag && variable == sources.environment.end()) continue;
    const std::string& text = by_flag ? flag->second : variable->second;
    Axis axis{field, by_flag, absl::StrSplit(text, ',')};
    if (axis.values.size() < 2) continue;
    if (std::ranges::any_of(axis.values, [](const std::string& v) { return v.empty(); })) {
      return UsageError(absl::StrCat(by_flag ? FlagName(*field) : VariableName(*field), "=", text,
                                     ": an element of the list is empty"));
    }
    const std::set<std::string> distinct(axis.values.begin(), axis.values.end());
    if (distinct.size() < axis.values.size()) {
      return UsageError(absl::StrCat(by_flag ? FlagName(*field) : VariableName(*field), "=", text,
                                     ": a value is listed twice"));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

std::string FolderName(std::string text) {
  for (char& c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '=';
    if (!plain) c = '-';
  }
  return text;
}

}  // namespace

bool IsSweepable(const std::string& field) {
  return std::ranges::find(kSweepable, field) != std::end(kSweepable);
}

absl::StatusOr<std::vector<SweepCell>> ResolveSweep(const ConfigSources& sources) {
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, Axes(sources));
  size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
    if (count <= kMaxCells) continue;
    return UsageError(
        absl::StrCat("the sweep has more than ", kMaxCells, " cells; make it smaller"));
  }
  std::vector<SweepCell> cells;
  for (size_t index = 0; index < count; ++index) {
    ConfigSources chosen = sources;
    SweepCell cell;
    size_t stride = count;
    for (const Axis& axis : axes) {
      stride /= axis.values.size();
      const std::string& value = axis.values[index / stride % axis.values.size()];
      if (axis.flag) {
        chosen.flags[axis.field->name()] = value;
      } else {
        chosen.environment[VariableName(*axis.field)] = value;
      }
      cell.coordinates.emplace_back(axis.field->name(), value);
      absl::StrAppend(&cell.label, cell.label.empty() ? "" : "_",
                      FolderName(absl::StrCat(axis.field->name(), "=", value)));
    }
    ASSIGN_OR_RETURN(cell.resolved, ResolveConfig(chosen));
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace grapevine
