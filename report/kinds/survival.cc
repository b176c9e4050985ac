// --kind=survival: what a run loses with its nodes: its loss, and how many are left, over time.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot_script.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {
namespace {

// Returns the living nodes over time, in percent of all nodes with which the run began.
std::vector<Point> LivingOf(const RecordedRun& run) {
  const auto nodes = static_cast<double>(run.config.has_planned_nodes() ? run.config.planned_nodes()
                                                                        : run.config.nodes());
  std::vector<Point> series;
  for (const RunMetrics& line : run.metrics) {
    const double living = line.living ? static_cast<double>(*line.living) : nodes;
    series.push_back({line.time_s, 100 * living / nodes});
  }
  return series;
}

absl::StatusOr<Figure> SurvivalPage(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
  ASSIGN_OR_RETURN(const Vertical loss, LossOf(request, Vertical::kTestLoss));
  Page page{.title = CommonTitle(ConfigsOf(runs)), .shared_rows = false};
  Panel losses, living;
  const std::vector<Curve> curves = GroupRuns(runs);
  page.hollow = SimulatedBesideReal(curves);
  for (const Curve& curve : curves) {
    std::vector<std::vector<Point>> loss_of, living_of;
    for (const RecordedRun* run : curve.runs) {
      loss_of.push_back(SeriesOf(run->metrics, Horizontal::kTime, loss));
      living_of.push_back(LivingOf(*run));
    }
    page.labels.push_back(curve.label);
    losses.curves.push_back(BandOf(loss_of));
    living.curves.push_back(BandOf(living_of));
  }
  if (std::ranges::all_of(losses.curves, &Band::empty)) {
    return InputError(absl::StrCat(
        runs.front().path, " has no ", loss == Vertical::kTestLoss ? "test" : "training",
        " loss: a model that learns has, measured every --eval-every or --log-every"));
  }
  losses.y = AxisOf(loss, losses.curves, request.log_loss);
  living.y = AxisOfPercent("living nodes", living.curves);
  page.panels = {std::move(losses), std::move(living)};
  std::vector<Band> all;
  for (const Panel& panel : page.panels) {
    all.insert(all.end(), panel.curves.begin(), panel.curves.end());
  }
  for (Panel& panel : page.panels) {
    panel.x = AxisOf(Horizontal::kTime, all);
    panel.x.label = ClockName(ConfigsOf(runs)) + panel.x.label;
  }
  page.columns = static_cast<int>(page.panels.size());
  return page;
}

const Registration kSurvival(PlotKinds(),
                             {.name = "survival",
                              .options = "",
                              .help = "loss and living nodes against time, in runs that lose nodes",
                              .flags = {"--loss", "--log-loss"},
                              .make = SurvivalPage});

}  // namespace
}  // namespace grapevine
