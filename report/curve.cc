#include "report/curve.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "algorithm/algorithm.h"
#include "base/units.h"
#include "model/problem/problem.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

using Configs = std::span<const Config* const>;

bool OfTheCluster(const std::string& name) {
  return InfoOf(ConfigFieldNamed(name)).section() == SIMULATION;
}

// Returns the text of a setting; "" for the epochs of a run that counts rounds, and for the
// simulated cluster of real nodes.
std::string ValueOf(const std::string& name, const Config& config) {
  if (name == "epochs" && config.has_rounds()) return "";
  if (OfTheCluster(name) && !IsSimulated(config)) return "";
  return FieldText(ConfigFieldNamed(name), config);
}

// Returns whether the configurations that have this setting differ in it.
bool Differs(const std::string& name, Configs configs) {
  std::set<std::string> values;
  for (const Config* config : configs) {
    if (!OfTheCluster(name) || IsSimulated(*config)) values.insert(ValueOf(name, *config));
  }
  return values.size() > 1;
}

// Returns everything that describes a run except the time of its gradient.
std::string AllButTheTime(const Config& config) {
  std::string text = MethodName(config);
  for (const ConfigField* field : ConfigFields()) {
    const std::string& name = field->name();
    if (!DescribesRun(*field) || name == "topology" || name == "compute") continue;
    absl::StrAppend(&text, "\n", name, "=", ValueOf(name, config));
  }
  return text;
}

bool IsSetting(const std::string& name, Configs configs) {
  return Differs(name, configs) && !(name == "compute" && TimesOfGradientsFollow(configs));
}

// Returns "gradient 2.31ms to 9.02ms" for times that differ and follow from the other settings;
// else "".
std::string RangeOfTimes(Configs configs) {
  if (!TimesOfGradientsFollow(configs)) return "";
  std::set<std::chrono::nanoseconds> times;
  for (const Config* config : configs) {
    if (config->has_compute()) times.insert(ResolvedDuration(config->compute()));
  }
  if (times.size() < 2) return "";
  return absl::StrCat("gradient ", FormatDuration(*times.begin()), " to ",
                      FormatDuration(*times.rbegin()));
}

std::vector<std::string> DifferingSettings(Configs configs, const std::set<std::string>& apart) {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) {
    const std::string& name = field->name();
    const bool named_anyway = name == "topology" || name == "algorithm" || name == "seed";
    if (!DescribesRun(*field) || named_anyway) continue;
    if (!apart.contains(name) && IsSetting(name, configs)) names.push_back(name);
  }
  return names;
}

// Returns the number of seeds of each label if it is the same for all labels; else 0.
size_t SeedsOfEach(Configs configs, const std::vector<std::string>& labels) {
  std::map<std::string, std::set<uint64_t>> seeds;
  for (size_t i = 0; i < configs.size(); ++i) seeds[labels[i]].insert(configs[i]->seed());
  const size_t each = seeds.begin()->second.size();
  const bool alike = std::ranges::all_of(
      seeds, [each](const auto& method) { return method.second.size() == each; });
  return alike ? each : 0;
}

std::string WithCount(const Curve& curve) {
  const size_t count = curve.runs.size();
  if (count == 1) return curve.label;
  std::set<uint64_t> seeds;
  for (const RecordedRun* run : curve.runs) seeds.insert(run->config.seed());
  return seeds.size() > 1 ? absl::StrCat(curve.label, " (", seeds.size(), " seeds)")
                          : absl::StrCat(curve.label, " (", count, " runs)");
}

}  // namespace

bool IsSimulated(const Config& config) { return config.has_network(); }

std::string ClockName(Configs configs) {
  const auto simulated = [](const Config* config) { return IsSimulated(*config); };
  if (std::ranges::none_of(configs, simulated)) return "";
  return std::ranges::all_of(configs, simulated) ? "simulated " : "real or simulated ";
}

std::string MethodName(const Config& config) {
  const std::string algorithm = ValueOf("algorithm", config);
  if (IsCentralized(config.algorithm())) return algorithm;
  return absl::StrCat(ValueOf("topology", config), ", ", algorithm);
}

bool TimesOfGradientsFollow(Configs configs) {
  std::map<std::string, std::string> times;  // by all other settings
  for (const Config* config : configs) {
    if (!config->has_compute()) continue;
    if (!Learns(config->model()) || !ParseDuration(config->compute()).ok()) return false;
    const auto [alike, added] = times.emplace(AllButTheTime(*config), config->compute());
    if (!added && alike->second != config->compute()) return false;
  }
  return true;
}

std::vector<std::string> CurveLabels(Configs configs, const std::set<std::string>& apart) {
  const std::vector<std::string> settings = DifferingSettings(configs, apart);
  const bool both = std::ranges::any_of(configs, [&](const Config* config) {
    return IsSimulated(*config) != IsSimulated(*configs.front());
  });
  std::vector<std::string> labels;
  for (const Config* config : configs) {
    std::string label = MethodName(*config);
    if (EvaluatedModelOf(config->algorithm()) == EvaluatedModel::kServersWeights) {
      absl::StrAppend(&label, " (servers)");
    }
    for (const std::string& name : settings) {
      const std::string value = ValueOf(name, *config);
      if (!value.empty()) absl::StrAppend(&label, ", ", name, "=", value);
    }
    if (both && IsSimulated(*config)) absl::StrAppend(&label, ", simulated");
    labels.push_back(std::move(label));
  }
  return labels;
}

std::vector<const Config*> ConfigsOf(std::span<const RecordedRun> runs) {
  std::vector<const Config*> configs;
  for (const RecordedRun& run : runs) configs.push_back(&run.config);
  return configs;
}

std::vector<Curve> GroupRuns(std::span<const RecordedRun> runs) {
  std::vector<Curve> curves;
  const std::vector<std::string> labels = CurveLabels(ConfigsOf(runs));
  for (size_t i = 0; i < runs.size(); ++i) {
    auto curve = std::ranges::find(curves, labels[i], &Curve::label);
    if (curve == curves.end()) curve = curves.insert(curves.end(), {labels[i], {}});
    curve->runs.push_back(&runs[i]);
  }
  if (SeedsOfEach(ConfigsOf(runs), labels) > 1) return curves;  // the title has the number
  for (Curve& curve : curves) curve.label = WithCount(curve);
  return curves;
}

namespace {

// Returns `simulated`, emptied if all curves are simulated.
std::set<size_t> UnlessAll(std::set<size_t> simulated, size_t curves) {
  if (simulated.size() == curves) simulated.clear();
  return simulated;
}

}  // namespace

std::set<size_t> SimulatedBesideReal(const std::vector<Curve>& curves) {
  std::set<size_t> simulated;
  for (size_t i = 0; i < curves.size(); ++i) {
    if (IsSimulated(curves[i].runs.front()->config)) simulated.insert(i);
  }
  return UnlessAll(std::move(simulated), curves.size());
}

std::set<size_t> SimulatedBesideReal(Configs configs, const CellLabels& labels) {
  std::set<size_t> simulated;
  for (size_t i = 0; i < configs.size(); ++i) {
    if (!IsSimulated(*configs[i])) continue;
    const auto label = std::ranges::find(labels.distinct, labels.of_cell[i]);
    simulated.insert(static_cast<size_t>(label - labels.distinct.begin()));
  }
  return UnlessAll(std::move(simulated), labels.distinct.size());
}

std::string CommonTitle(Configs configs) {
  const Config& config = *configs.front();
  std::vector<std::string> parts;
  const auto add = [&](const char* name, std::string text) {
    if (!Differs(name, configs)) parts.push_back(std::move(text));
  };
  add("model", config.model());
  if (SeesData(config.model())) {
    // The folder of a data set tells a reader nothing.
    add("data", absl::StrCat("on ", config.data().substr(0, config.data().find(':'))));
    add("split", absl::StrCat("split ", config.split()));
  }
  add("nodes", absl::StrCat(config.nodes(), " nodes"));
  if (Learns(config.model())) {
    add("batch", absl::StrCat("batch ", config.batch()));
    add("lr", absl::StrCat("lr ", ValueOf("lr", config)));
    if (std::string times = RangeOfTimes(configs); !times.empty()) parts.push_back(times);
  } else {
    add("compute", absl::StrCat("gradient ", config.compute()));
    add("network", absl::StrCat("network ", config.network()));
  }
  if (const size_t seeds = SeedsOfEach(configs, CurveLabels(configs)); seeds > 1) {
    parts.push_back(absl::StrCat(seeds, " seeds"));
  }
  std::string title = absl::StrJoin(parts, ", ");
  // "lenet5, on mnist" -> "lenet5 on mnist"
  if (const size_t on = title.find(", on "); on != title.npos) title.erase(on, 1);
  return title;
}

std::vector<const Config*> ConfigsOfCells(std::span<const SweptCell> cells) {
  std::vector<const Config*> configs;
  for (const SweptCell& cell : cells) configs.push_back(&cell.config);
  return configs;
}

CellLabels LabelsOf(std::span<const Config* const> configs, const std::set<std::string>& apart) {
  CellLabels labels{CurveLabels(configs, apart), {}};
  for (const std::string& label : labels.of_cell) {
    if (std::ranges::find(labels.distinct, label) == labels.distinct.end()) {
      labels.distinct.push_back(label);
    }
  }
  return labels;
}

CellLabels LabelsOf(std::span<const SweptCell> cells, const std::set<std::string>& apart) {
  return LabelsOf(ConfigsOfCells(cells), apart);
}

std::vector<Band> BandsOfCells(std::span<const SweptCell> cells, const CellLabels& labels,
                               const CellValue& x, const CellValue& y) {
  std::vector<RunPoint> points;
  for (const SweptCell& cell : cells) points.push_back({x(cell), y(cell)});
  return BandsOfPoints(points, labels);
}

std::vector<Band> BandsOfPoints(std::span<const RunPoint> runs, const CellLabels& labels) {
  std::vector<std::map<double, std::vector<double>>> points(labels.distinct.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].x || !runs[i].y) continue;
    const size_t curve =
        std::ranges::find(labels.distinct, labels.of_cell[i]) - labels.distinct.begin();
    points[curve][*runs[i].x].push_back(*runs[i].y);
  }
  std::vector<Band> bands;
  for (const auto& curve : points) {
    Band& band = bands.emplace_back();
    for (const auto& [at, values] : curve) {
      double sum = 0;
      for (const double value : values) sum += value;
      band.push_back({at, std::ranges::min(values), sum / static_cast<double>(values.size()),
                      std::ranges::max(values)});
    }
  }
  return bands;
}

std::set<double> ValuesOf(std::span<const SweptCell> cells, const CellValue& value) {
  std::set<double> values;
  for (const SweptCell& cell : cells) {
    if (const std::optional<double> one = value(cell)) values.insert(*one);
  }
  return values;
}

}  // namespace grapevine
