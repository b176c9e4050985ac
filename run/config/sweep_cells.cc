#include "run/config/sweep_cells.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"

namespace grapevine {
namespace {

// A field that is given, by a flag or else by a variable, with all its values.
struct Axis {
  const ConfigField* field;
  bool by_flag;
  std::string text;  // the text of the flag or variable
  std::vector<std::string> values;
  std::vector<std::string> names = {};  // names of the values in folders
};

std::string Culprit(const Axis& axis) {
  return absl::StrCat(axis.by_flag ? FlagName(*axis.field) : VariableName(*axis.field), "=",
                      axis.text);
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> values(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] == '\\' && (next == ',' || next == '\\')) {
      values.back() += text[++i];
    } else if (text[i] == ',') {
      values.emplace_back();
    } else {
      values.back() += text[i];
    }
  }
  return values;
}

// Returns the value in canonical form: "1000Mbit" and "1Gbit" are one value. Returns a value that
// cannot be read as it is; ResolveConfig refuses it.
std::string CanonicalText(const ConfigField& field, const std::string& value) {
  Config config;
  return SetField(field, value, &config).ok() ? FieldText(field, config) : value;
}

// Returns the flags for one run with all values: "--slow=1:2 --slow=3:4".
std::string RepeatedFlag(const Axis& axis) {
  const std::string flag = FlagName(*axis.field);
  return absl::StrCat(flag, "=", absl::StrJoin(axis.values, absl::StrCat(" ", flag, "=")));
}

absl::Status CheckList(const Axis& axis) {
  if (axis.values.size() < 2) return absl::OkStatus();
  if (std::ranges::any_of(axis.values, [](const std::string& v) { return v.empty(); })) {
    return UsageError(absl::StrCat(Culprit(axis), ": an element of the list is empty"));
  }
  if (!IsSweepable(axis.field->name())) {
    return UsageError(absl::StrCat(Culprit(axis),
                                   ": a run may have several of these, so this could be one run "
                                   "with all of them or a run for each; for one run write ",
                                   RepeatedFlag(axis)));
  }
  std::set<std::string> distinct;
  for (const std::string& value : axis.values) {
    if (distinct.insert(CanonicalText(*axis.field, value)).second) continue;
    return UsageError(absl::StrCat(Culprit(axis), ": a value is listed twice"));
  }
  return absl::OkStatus();
}

std::string FolderName(std::string text) {
  for (char& c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '=';
    if (!plain) c = '-';
  }
  return text;
}

// Returns distinct names for the values. Of two values that differ only in characters that no
// folder's name can have, one is called "data=mnist--a-b" and the other "data=mnist--a-b-2".
std::vector<std::string> FolderNames(const ConfigField& field,
                                     const std::vector<std::string>& values) {
  std::vector<std::string> names;
  std::set<std::string> taken;
  for (const std::string& value : values) {
    const std::string name =
        absl::StrCat(field.name(), "=", FolderName(CanonicalText(field, value)));
    std::string own = name;
    for (int i = 2; !taken.insert(own).second; ++i) own = absl::StrCat(name, "-", i);
    names.push_back(std::move(own));
  }
  return names;
}

// Returns an axis for every given field that describes a run.
absl::StatusOr<std::vector<Axis>> Axes(const ConfigSources& sources,
                                       const std::vector<const ConfigField*>& fields) {
  std::vector<Axis> axes;
  for (const ConfigField* field : fields) {
    if (!DescribesRun(*field)) continue;
    const auto flag = sources.flags.find(field->name());
    const auto variable = sources.environment.find(VariableName(*field));
    const bool by_flag = flag != sources.flags.end();
    if (!by_flag && variable == sources.environment.end()) continue;
    const std::string& text = by_flag ? flag->second : variable->second;
    Axis axis{field, by_flag, text, SplitList(text)};
    RETURN_IF_ERROR(CheckList(axis));
    axis.names = FolderNames(*field, axis.values);
    axes.push_back(std::move(axis));
  }
  return axes;
}

// Removes a variable that a flag replaces: it may be a list itself.
void Choose(const Axis& axis, const std::string& value, ConfigSources* sources) {
  if (axis.by_flag) {
    sources->flags[axis.field->name()] = value;
    sources->environment.erase(VariableName(*axis.field));
  } else {
    sources->environment[VariableName(*axis.field)] = value;
  }
}

// Checks that the values of the list have an effect: --rounds on the command line replaces the
// epochs of a variable, and then all cells are the same.
absl::Status CheckCounts(const Axis& axis, const Config& config) {
  if (HasField(*axis.field, config)) return absl::OkStatus();
  return UsageError(absl::StrCat(
      Culprit(axis), ": another setting replaces this list (--epochs and --rounds exclude each ",
      "other); drop one of them"));
}

// Returns the cell at `index` of `count`. `first` are the sources of the first cell.
absl::StatusOr<SweepCell> CellAt(size_t index, size_t count, const std::vector<Axis>& axes,
                                 const ConfigSources& first) {
  ConfigSources chosen = first;
  std::vector<const Axis*> lists;
  std::vector<std::string> names;
  size_t stride = count;
  for (const Axis& axis : axes) {
    stride /= axis.values.size();
    const size_t place = index / stride % axis.values.size();
    Choose(axis, axis.values[place], &chosen);
    if (axis.values.size() < 2) continue;
    lists.push_back(&axis);
    names.push_back(axis.names[place]);
  }
  SweepCell cell{.label = absl::StrJoin(names, "_")};
  if (cell.label.size() > kLongestLabel) {
    const std::string number = absl::StrCat("_", index + 1);
    cell.label = cell.label.substr(0, kLongestLabel - number.size()) + number;
  }
  ASSIGN_OR_RETURN(cell.resolved, ResolveConfig(chosen));
  for (const Axis* axis : lists) {
    RETURN_IF_ERROR(CheckCounts(*axis, cell.resolved.config));
    cell.coordinates.emplace_back(axis->field->name(),
                                  FieldText(*axis->field, cell.resolved.config));
  }
  return cell;
}

}  // namespace

bool IsSweepable(const std::string& field) {
  const ConfigField* const found = Config::descriptor()->FindFieldByName(field);
  return found != nullptr && DescribesRun(*found) && !found->is_repeated();
}

std::string ListElement(std::string_view value) {
  return absl::StrReplaceAll(std::string(value), {{",", "\\,"}, {"\\", "\\\\"}});
}

ConfigSources SingleValues(ConfigSources sources) {
  for (const ConfigField* field : ConfigFields()) {
    if (!DescribesRun(*field)) continue;
    const auto unescape = [](const std::string& name, std::map<std::string, std::string>& texts) {
      const auto text = texts.find(name);
      if (text != texts.end()) text->second = absl::StrJoin(SplitList(text->second), ",");
    };
    unescape(field->name(), sources.flags);
    unescape(VariableName(*field), sources.environment);
  }
  return sources;
}

absl::StatusOr<std::vector<SweepCell>> ResolveSweep(const ConfigSources& sources,
                                                    const std::vector<const ConfigField*>& fields) {
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, Axes(sources, fields));
  size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.values.size();
    if (count <= kMaxCells) continue;
    return UsageError(
        absl::StrCat("the sweep has more than ", kMaxCells, " cells; make it smaller"));
  }
  ConfigSources first = sources;
  for (const Axis& axis : axes) Choose(axis, axis.values.front(), &first);
  std::vector<SweepCell> cells;
  for (size_t index = 0; index < count; ++index) {
    ASSIGN_OR_RETURN(SweepCell cell, CellAt(index, count, axes, first));
    cells.push_back(std::move(cell));
  }
  return cells;
}

}  // namespace grapevine
