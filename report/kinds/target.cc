// --kind=target: what methods need to reach a test accuracy, as bars.
#include "report/target.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/units.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {
namespace {

std::string Epochs(double value) { return absl::StrFormat("%.3g", value); }

// A cost of reaching the target; it makes a panel.
struct Cost {
  Horizontal quantity;
  std::string (*text)(double);
};
constexpr Cost kCosts[] = {{Horizontal::kTime, &HumanDuration},
                           {Horizontal::kBytes, &HumanSize},
                           {Horizontal::kEpoch, &Epochs}};

// The bar of a curve, and the note on it.
struct Bar {
  BandPoint point;
  std::string note;
};

// Returns the share of a curve's runs that reached the target.
double ShareThatMet(const Curve& curve, double target) {
  const auto met = std::ranges::count_if(curve.runs, [target](const RecordedRun* run) {
    return FirstToMeet(target, run->metrics) != nullptr;
  });
  return static_cast<double>(met) / static_cast<double>(curve.runs.size());
}

Bar BarOf(const Curve& curve, const Cost& cost, double target) {
  std::vector<double> values;
  for (const RecordedRun* run : curve.runs) {
    const RunMetrics* const met = FirstToMeet(target, run->metrics);
    if (met == nullptr) continue;
    if (const auto value = ValueOf(*met, cost.quantity)) values.push_back(*value);
  }
  if (values.empty()) {
    constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
    return {{0, kNothing, kNothing, kNothing}, "never"};
  }
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / static_cast<double>(values.size());
  std::string note = cost.text(mean);
  if (values.size() < curve.runs.size()) {
    absl::StrAppend(&note, " (", values.size(), " of ", curve.runs.size(), ")");
  }
  return {{0, std::ranges::min(values), mean, std::ranges::max(values)}, note};
}

Panel PanelOf(const std::vector<Curve>& curves, const Cost& cost, double target) {
  Panel panel{.x = AxisOfBars("", {""}), .bars = true};
  for (const Curve& curve : curves) {
    Bar bar = BarOf(curve, cost, target);
    panel.curves.push_back({bar.point});
    panel.notes.push_back({std::move(bar.note)});
  }
  panel.y = UpwardsAxisOf(cost.quantity, panel.curves);
  return panel;
}

absl::StatusOr<Figure> TargetPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  const std::vector<const Config*> configs = ConfigsOf(runs);
  ASSIGN_OR_RETURN(const double target, RequiredTargetOf(request.target, configs));
  if (std::ranges::none_of(runs, [target](const RecordedRun& run) {
        return FirstToMeet(target, run.metrics) != nullptr;
      })) {
    return NobodyMet(target);
  }
  std::vector<Curve> curves = GroupRuns(runs);
  // The mean of the seeds that reached the target says nothing of those that did not.
  std::ranges::stable_sort(curves, std::greater<>(),
                           [target](const Curve& curve) { return ShareThatMet(curve, target); });
  Page page{.title =
                absl::StrCat("to ", TargetName(target), " test accuracy: ", CommonTitle(configs))};
  for (const Curve& curve : curves) page.labels.push_back(curve.label);
  for (const Cost& cost : kCosts) page.panels.push_back(PanelOf(curves, cost, target));
  page.panels.front().y.label = ClockName(configs) + page.panels.front().y.label;
  page.shared_rows = false;
  return page;
}

const Registration kTarget(
    PlotKinds(),
    {.name = "target",
     .options = "",
     .help = "time, bytes and epochs to the test accuracy of --target-accuracy, by method",
     .flags = {"--target-accuracy"},
     .make = TargetPage});

}  // namespace
}  // namespace grapevine
