#include "report/curve.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "run/config_field.h"
#include "run/experiment_text.h"

namespace grapevine {
namespace {

// Equal for runs that differ in the seed alone.
std::string KeyOf(const RecordedRun& run) {
  Config config = run.config;
  config.clear_seed();
  return ExperimentText(config);
}

// "" for epochs of a run that counts rounds.
std::string ValueOf(const std::string& name, const RecordedRun& run) {
  if (name == "epochs" && run.config.has_rounds()) return "";
  return FieldText(ConfigFieldNamed(name), run.config);
}

bool Differs(const std::string& name, std::span<const RecordedRun> runs) {
  return std::any_of(runs.begin(), runs.end(), [&](const RecordedRun& run) {
    return ValueOf(name, run) != ValueOf(name, runs.front());
  });
}

std::vector<std::string> DifferingSettings(std::span<const RecordedRun> runs) {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) {
    const std::string& name = field->name();
    const bool named_anyway = name == "topology" || name == "algorithm" || name == "seed";
    if (InfoOf(*field).section() != EXPERIMENT || named_anyway) continue;
    if (Differs(name, runs)) names.push_back(name);
  }
  return names;
}

std::string LabelOf(const RecordedRun& run, const std::vector<std::string>& settings) {
  std::string label = absl::StrCat(ValueOf("topology", run), ", ", ValueOf("algorithm", run));
  for (const std::string& name : settings) {
    const std::string value = ValueOf(name, run);
    if (!value.empty()) absl::StrAppend(&label, ", ", name, "=", value);
  }
  return label;
}

std::string WithCount(const Curve& curve) {
  const size_t count = curve.runs.size();
  if (count == 1) return curve.label;
  const bool seeds = std::any_of(curve.runs.begin(), curve.runs.end(), [&](const RecordedRun* run) {
    return run->config.seed() != curve.runs.front()->config.seed();
  });
  return absl::StrCat(curve.label, " (", count, seeds ? " seeds)" : " runs)");
}

}  // namespace

std::vector<Curve> GroupRuns(std::span<const RecordedRun> runs) {
  std::vector<Curve> curves;
  std::vector<std::string> keys;
  const std::vector<std::string> settings = DifferingSettings(runs);
  for (const RecordedRun& run : runs) {
    const std::string key = KeyOf(run);
    const size_t index = std::find(keys.begin(), keys.end(), key) - keys.begin();
    if (index == keys.size()) {
      keys.push_back(key);
      curves.push_back({LabelOf(run, settings), {}});
    }
    curves[index].runs.push_back(&run);
  }
  for (Curve& curve : curves) curve.label = WithCount(curve);
  return curves;
}

std::string CommonTitle(std::span<const RecordedRun> runs) {
  const Config& config = runs.front().config;
  std::vector<std::string> parts;
  const auto add = [&](const char* name, std::string text) {
    if (!Differs(name, runs)) parts.push_back(std::move(text));
  };
  add("model", config.model());
  // A data set's folder says nothing to a reader.
  add("data", absl::StrCat("on ", config.data().substr(0, config.data().find(':'))));
  add("split", absl::StrCat("split ", config.split()));
  add("nodes", absl::StrCat(config.nodes(), " nodes"));
  add("batch", absl::StrCat("batch ", config.batch()));
  add("lr", absl::StrCat("lr ", ValueOf("lr", runs.front())));
  std::string title = absl::StrJoin(parts, ", ");
  // "lenet5, on mnist" -> "lenet5 on mnist"
  if (const size_t on = title.find(", on "); on != title.npos) title.erase(on, 1);
  return title;
}

}  // namespace grapevine
