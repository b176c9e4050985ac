// --kind=scaling and --kind=throughput: what more nodes bring, in real runs and simulated ones.
#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {
namespace {

std::optional<double> Nodes(const SweptCell& cell) { return cell.config.nodes(); }
std::optional<double> StepTime(const SweptCell& cell) { return cell.seconds_per_round; }
std::optional<double> Samples(const SweptCell& cell) { return cell.samples_per_s; }
struct Scaled {
  std::vector<SweptCell> cells;
  std::set<double> counts;  // numbers of nodes; at least two
  CellLabels labels;
};

absl::StatusOr<Scaled> ReadScaled(const std::vector<std::string>& paths) {
  ASSIGN_OR_RETURN(std::vector<SweptCell> cells, ReadFinishedRuns(paths));
  std::set<double> counts = ValuesOf(cells, &Nodes);
  if (counts.size() < 2) {
    return InputError(absl::StrCat("the runs have one number of nodes (", *counts.begin(),
                                   "); give --nodes a list, or name runs with several"));
  }
  CellLabels labels = LabelsOf(cells, {"nodes"});
  return Scaled{std::move(cells), std::move(counts), std::move(labels)};
}

Axis AxisOfCounts(const Scaled& scaled) { return AxisOfValues("nodes", scaled.counts); }

// Returns samples per second and node, in percent of what the curve has with its fewest nodes;
// empty for a curve with one number of nodes, which cannot lose any.
Band EfficiencyOf(const Band& throughput) {
  if (throughput.size() < 2) return {};
  Band efficiency;
  for (const BandPoint& point : throughput) {
    const double whole = throughput.front().mean / throughput.front().x * point.x / 100;
    efficiency.push_back({point.x, point.low / whole, point.mean / whole, point.high / whole});
  }
  return efficiency;
}

Page PageOfPanels(const Scaled& scaled, std::vector<Panel> panels) {
  const int columns = static_cast<int>(panels.size());
  const std::vector<const Config*> configs = ConfigsOfCells(scaled.cells);
  return Page{.title = CommonTitle(configs),
              .labels = scaled.labels.distinct,
              .hollow = SimulatedBesideReal(configs, scaled.labels),
              .panels = std::move(panels),
              .columns = columns,
              .shared_rows = false};
}

absl::StatusOr<Figure> ScalingPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const Scaled scaled, ReadScaled(request.runs));
  Panel step{.x = AxisOfCounts(scaled),
             .curves = BandsOfCells(scaled.cells, scaled.labels, &Nodes, &StepTime)};
  step.y = AxisOfSeconds(ClockName(ConfigsOfCells(scaled.cells)) + "time of a step", step.curves);
  Panel efficiency{.x = step.x};
  for (const Band& curve : BandsOfCells(scaled.cells, scaled.labels, &Nodes, &Samples)) {
    efficiency.curves.push_back(EfficiencyOf(curve));
  }
  efficiency.y = AxisOfPercent("efficiency", efficiency.curves);
  efficiency.reference = {{*scaled.counts.begin(), 100, 100, 100},
                          {*scaled.counts.rbegin(), 100, 100, 100}};
  return PageOfPanels(scaled, {std::move(step), std::move(efficiency)});
}

// Returns the straight line through the best value that any curve has with the fewest nodes.
Band IdealOf(const std::vector<Band>& curves, const std::set<double>& counts) {
  const double fewest = *counts.begin();
  double best = 0;
  for (const Band& curve : curves) {
    for (const BandPoint& point : curve) {
      if (point.x == fewest) best = std::max(best, point.mean);
    }
  }
  Band ideal;
  for (const double count : counts) {
    const double value = best * count / fewest;
    ideal.push_back({count, value, value, value});
  }
  return ideal;
}

// Returns the percentages of the ideal: at each point if `all`, else at the last point only, so
// that those of many curves fit.
std::vector<std::string> PercentagesOf(const Band& curve, const Band& ideal, bool all) {
  const double each = ideal.front().mean / ideal.front().x;
  std::vector<std::string> notes;
  for (const BandPoint& point : curve) {
    const bool shown = all || &point == &curve.back();
    notes.push_back(shown ? absl::StrFormat("%.0f %%", 100 * point.mean / (each * point.x)) : "");
  }
  return notes;
}

absl::StatusOr<Figure> ThroughputPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const Scaled scaled, ReadScaled(request.runs));
  constexpr size_t kMostNoted = 3;
  Panel panel{.x = AxisOfCounts(scaled),
              .curves = BandsOfCells(scaled.cells, scaled.labels, &Nodes, &Samples),
              .reference_name = "ideal"};
  panel.reference = IdealOf(panel.curves, scaled.counts);
  for (const Band& curve : panel.curves) {
    panel.notes.push_back(PercentagesOf(curve, panel.reference, panel.curves.size() <= kMostNoted));
  }
  std::vector<Band> all = panel.curves;
  all.push_back(panel.reference);
  panel.y = AxisOfAmounts("samples per second", all);
  return PageOfPanels(scaled, {std::move(panel)});
}

const Registration kScaling(
    PlotKinds(),
    {.name = "scaling",
     .options = "",
     .help = "time of a step and efficiency (%) against nodes, of real or simulated runs",
     .flags = {},
     .make = ScalingPage});
const Registration kThroughput(
    PlotKinds(), {.name = "throughput",
                  .options = "",
                  .help = "samples per second against nodes, with the ideal line and percentages",
                  .flags = {},
                  .make = ThroughputPage});

}  // namespace
}  // namespace grapevine
