// --kind=accuracy: the final test accuracy against a setting of the runs.
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/series.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

std::set<std::string> TextsOf(const ConfigField& field, std::span<const Config* const> configs) {
  std::set<std::string> texts;
  for (const Config* config : configs) texts.insert(FieldText(field, *config));
  return texts;
}

// The setting that --x names; else the batch, if it varies, or the learning rate.
absl::StatusOr<const ConfigField*> SettingOf(const std::string& x,
                                             std::span<const Config* const> configs) {
  for (const ConfigField* field : ConfigFields()) {
    if (!x.empty() && field->name() == x) return field;
  }
  if (!x.empty()) {
    return UsageError(absl::StrCat("--x=", x,
                                   " is no setting of a run; name one whose values are "
                                   "numbers, for example batch, lr, momentum or nodes"));
  }
  for (const char* name : {"batch", "lr"}) {
    if (TextsOf(ConfigFieldNamed(name), configs).size() > 1) return &ConfigFieldNamed(name);
  }
  const Config& config = *configs.front();
  return InputError(absl::StrCat("the runs have one batch (", config.batch(), ") and one lr (",
                                 config.lr(),
                                 "); give --batch or --lr a list, or name another "
                                 "setting with --x"));
}

absl::StatusOr<std::vector<double>> NumbersOfSetting(const ConfigField& field,
                                                     std::span<const Config* const> configs) {
  std::vector<double> numbers;
  for (const Config* config : configs) {
    const std::string text = FieldText(field, *config);
    if (!absl::SimpleAtod(text, &numbers.emplace_back())) {
      return UsageError(absl::StrCat("--x=", field.name(), ": \"", text, "\" is no number"));
    }
  }
  return numbers;
}

absl::StatusOr<Figure> AccuracyPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  const std::vector<const Config*> configs = ConfigsOf(runs);
  ASSIGN_OR_RETURN(const ConfigField* const field, SettingOf(request.x, configs));
  ASSIGN_OR_RETURN(const std::vector<double> settings, NumbersOfSetting(*field, configs));
  std::vector<RunPoint> points;
  std::set<double> measured;
  for (size_t i = 0; i < runs.size(); ++i) {
    ASSIGN_OR_RETURN(const std::optional<Summary> summary, ReadSummaryIfFinished(runs[i].path));
    points.push_back({settings[i], Outcome(runs[i], summary).test_accuracy});
    if (points[i].y) measured.insert(settings[i]);
  }
  if (measured.empty()) {
    return InputError(absl::StrCat(runs.front().path,
                                   " has no test accuracy: it is measured "
                                   "every --eval-every epochs of a --model that learns from data"));
  }
  const CellLabels labels = LabelsOf(configs, {field->name()});
  Panel panel{.x = AxisOfValues(FlagName(*field), measured),
              .curves = BandsOfPoints(points, labels)};
  panel.y = AxisOf(Vertical::kTestAccuracy, panel.curves);
  panel.y.label = "final " + panel.y.label;
  return Page{.title = CommonTitle(configs),
              .labels = labels.distinct,
              .hollow = SimulatedBesideReal(configs, labels),
              .panels = {std::move(panel)},
              .columns = 1};
}

const Registration kAccuracy(
    PlotKinds(),
    {.name = "accuracy",
     .options = "",
     .help = "final test accuracy against batch, lr or the number of the runs that --x names",
     .flags = {"--x"},
     .make = AccuracyPage});

}  // namespace
}  // namespace grapevine
