// --kind=accuracy: the final test accuracy against a setting of the runs.
#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/sample.h"
#include "report/series.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

std::set<std::string> TextsOf(const ConfigField& field, std::span<const Config* const> configs) {
  std::set<std::string> texts;
  for (const Config* config : configs) texts.insert(FieldText(field, *config));
  return texts;
}

bool IsNumber(const std::string& text) {
  double number;
  return absl::SimpleAtod(text, &number);
}

// Returns the setting whose values are the axis: the one that --x names; else the batch, if it
// varies, or the learning rate. Null if only methods are to be compared.
absl::StatusOr<const ConfigField*> SettingOf(const std::string& x,
                                             std::span<const Config* const> configs) {
  if (x.empty()) {
    for (const char* name : {"batch", "lr"}) {
      if (TextsOf(ConfigFieldNamed(name), configs).size() > 1) return &ConfigFieldNamed(name);
    }
    return nullptr;
  }
  for (const ConfigField* field : ConfigFields()) {
    if (field->name() != x) continue;
    return std::ranges::all_of(TextsOf(*field, configs), IsNumber) ? field : nullptr;
  }
  return UsageError(absl::StrCat("--x=", x,
                                 " is no setting of a run; name one, for example batch, lr, "
                                 "momentum, nodes or topology"));
}

std::vector<double> NumbersOfSetting(const ConfigField& field,
                                     std::span<const Config* const> configs) {
  std::vector<double> numbers;
  for (const Config* config : configs) {
    CHECK(absl::SimpleAtod(FieldText(field, *config), &numbers.emplace_back()));
  }
  return numbers;
}

using Accuracies = std::vector<std::optional<double>>;

absl::StatusOr<Accuracies> FinalAccuracies(const std::vector<RecordedRun>& runs) {
  Accuracies accuracies;
  for (const RecordedRun& run : runs) {
    ASSIGN_OR_RETURN(const std::optional<Summary> summary, ReadSummaryIfFinished(run.path));
    accuracies.push_back(Outcome(run, summary).test_accuracy);
  }
  if (std::ranges::any_of(accuracies, [](const auto& value) { return value.has_value(); })) {
    return accuracies;
  }
  return InputError(absl::StrCat(runs.front().path,
                                 " has no test accuracy: it is measured "
                                 "every --eval-every epochs of a --model that learns from data"));
}

// Returns "batch schedule" for "batch_schedule".
std::string NameOf(const ConfigField& field) {
  return absl::StrReplaceAll(field.name(), {{"_", " "}});
}

Page CurvesOver(const ConfigField& field, std::span<const Config* const> configs,
                const Accuracies& accuracies) {
  const std::vector<double> settings = NumbersOfSetting(field, configs);
  std::vector<RunPoint> points;
  std::set<double> measured;
  for (size_t i = 0; i < accuracies.size(); ++i) {
    points.push_back({settings[i], accuracies[i]});
    if (accuracies[i]) measured.insert(settings[i]);
  }
  const CellLabels labels = LabelsOf(configs, {field.name()});
  Panel panel{.x = AxisOfValues(NameOf(field), measured), .curves = BandsOfPoints(points, labels)};
  panel.y = AxisOf(Vertical::kTestAccuracy, panel.curves);
  return {.labels = labels.distinct,
          .hollow = SimulatedBesideReal(configs, labels),
          .panels = {std::move(panel)}};
}

// Draws one bar for each method, in the order of the methods.
Page Bars(std::span<const Config* const> configs, const Accuracies& accuracies) {
  const CellLabels labels = LabelsOf(configs, {});
  Panel panel{.x = AxisOfBars("", {""}), .bars = true};
  for (const std::string& label : labels.distinct) {
    std::vector<double> values;
    for (size_t i = 0; i < accuracies.size(); ++i) {
      if (labels.of_cell[i] == label && accuracies[i]) values.push_back(*accuracies[i]);
    }
    const std::optional<Sample> sample = SampleOf(values);
    if (!sample) {
      constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
      panel.curves.push_back({{0, kNothing, kNothing, kNothing}});
      panel.notes.push_back({"not measured"});
      continue;
    }
    const auto [least, greatest] = std::ranges::minmax(values);
    panel.curves.push_back({{0, 100 * least, 100 * sample->mean, 100 * greatest}});
    panel.notes.push_back({absl::StrFormat("%.2f %%", 100 * sample->mean)});
  }
  panel.y = AxisOfPercent("test accuracy", panel.curves);
  panel.y.tics = {0, 20, 40, 60, 80, 100};  // none above 100, where notes stand
  return {.labels = labels.distinct, .panels = {std::move(panel)}};
}

absl::StatusOr<Figure> AccuracyPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  const std::vector<const Config*> configs = ConfigsOf(runs);
  ASSIGN_OR_RETURN(const ConfigField* const field, SettingOf(request.x, configs));
  ASSIGN_OR_RETURN(const Accuracies accuracies, FinalAccuracies(runs));
  Page page =
      field != nullptr ? CurvesOver(*field, configs, accuracies) : Bars(configs, accuracies);
  page.panels.front().y.label = "final " + page.panels.front().y.label;
  page.title = CommonTitle(configs);
  page.columns = 1;
  return page;
}

const Registration kAccuracy(
    PlotKinds(),
    {.name = "accuracy",
     .options = "",
     .help = "final test accuracy against batch, lr or the setting that --x names; by method",
     .flags = {"--x"},
     .make = AccuracyPage});

}  // namespace
}  // namespace grapevine
