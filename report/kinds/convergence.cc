#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/curve.h"
#include "report/kinds/pages.h"
#include "report/plot.h"
#include "report/series.h"

namespace grapevine {
namespace {

using Against = std::vector<Horizontal>;

absl::StatusOr<Against> AgainstWhat(const std::string& x) {
  if (x.empty() || x == "all")
    return Against{Horizontal::kEpoch, Horizontal::kBytes, Horizontal::kTime};
  if (x == "epoch") return Against{Horizontal::kEpoch};
  if (x == "bytes") return Against{Horizontal::kBytes};
  if (x == "time") return Against{Horizontal::kTime};
  return UsageError(
      absl::StrCat("--x=", x, ": convergence is drawn against epoch, bytes, time or all"));
}

absl::StatusOr<std::vector<Vertical>> RowsOf(const ConvergenceOptions& options) {
  constexpr Vertical kAccuracy = Vertical::kTestAccuracy;
  constexpr Vertical kConsensus = Vertical::kConsensusDistance;
  const std::string& y = options.y;
  if (y.empty() || y == "all") return std::vector{options.loss, kAccuracy, kConsensus};
  if (y == "loss") return std::vector{options.loss};
  if (y == "accuracy") return std::vector{kAccuracy};
  if (y == "consensus") return std::vector{kConsensus};
  return UsageError(absl::StrCat("--y=", y, ": must be loss, accuracy, consensus or all"));
}

Band BandOfCurve(const Curve& curve, Horizontal x, Vertical y) {
  std::vector<std::vector<Point>> series;
  for (const RecordedRun* run : curve.runs) series.push_back(SeriesOf(run->metrics, x, y));
  return BandOf(series);
}

std::vector<Band> BandsOf(const std::vector<Curve>& curves, Horizontal x, Vertical y) {
  std::vector<Band> bands;
  for (const Curve& curve : curves) bands.push_back(BandOfCurve(curve, x, y));
  return bands;
}

// Returns all curves of a row or a column, which share an axis.
std::vector<Band> Together(const std::vector<Panel>& panels, size_t first, size_t stride,
                           size_t count) {
  std::vector<Band> curves;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<Band>& more = panels[first + i * stride].curves;
    curves.insert(curves.end(), more.begin(), more.end());
  }
  return curves;
}

// Returns whether anything of the curve can be drawn: a timing run has no loss and no model.
bool IsDrawn(const Curve& curve, std::span<const Vertical> rows,
             std::span<const Horizontal> against) {
  for (const Vertical y : rows) {
    for (const Horizontal x : against) {
      if (!BandOfCurve(curve, x, y).empty()) return true;
    }
  }
  return false;
}

void NameCurves(const std::vector<Curve>& curves, Page* page) {
  for (const Curve& curve : curves) page->labels.push_back(curve.label);
  page->hollow = SimulatedBesideReal(curves);
}

}  // namespace

absl::StatusOr<Page> ConvergencePage(const std::vector<RecordedRun>& runs,
                                     const ConvergenceOptions& options) {
  ASSIGN_OR_RETURN(const Against against, AgainstWhat(options.x));
  ASSIGN_OR_RETURN(const std::vector<Vertical> rows, RowsOf(options));
  std::vector<Curve> curves = GroupRuns(runs);
  std::erase_if(curves, [&](const Curve& curve) { return !IsDrawn(curve, rows, against); });
  if (curves.empty()) {
    return InputError(
        absl::StrCat(runs.front().path,
                     " has no loss, accuracy or consensus distance to draw; of what learns nothing "
                     "there are pictures of sweeps: --kind=step-time, winner or speed-up"));
  }
  Page page;
  page.title = CommonTitle(ConfigsOf(runs));
  NameCurves(curves, &page);
  for (const Vertical y : rows) {
    for (const Horizontal quantity : against) {
      page.panels.push_back({.curves = BandsOf(curves, quantity, y)});
    }
  }
  page.shared_rows = against.size() > 1;
  page.columns = static_cast<int>(page.shared_rows ? against.size() : rows.size());
  // If there is only one horizontal quantity, its panels are side by side.
  const size_t columns = against.size();
  for (size_t i = 0; i < page.panels.size(); ++i) {
    const size_t column = i % columns;
    const size_t row = i / columns;
    Panel& panel = page.panels[i];
    panel.x = AxisOf(against[column], page.shared_rows
                                          ? Together(page.panels, column, columns, rows.size())
                                          : panel.curves);
    panel.y = AxisOf(rows[row], Together(page.panels, row * columns, 1, columns),
                     options.log_loss && rows[row] == options.loss);
    if (against[column] == Horizontal::kTime) {
      panel.x.label = ClockName(ConfigsOf(runs)) + panel.x.label;
    }
  }
  return page;
}

namespace {

const Registration kConvergence(
    PlotKinds(),
    {.name = "convergence",
     .options = "",
     .help = "loss, accuracy, consensus distance against epoch, bytes and time, or one --x",
     .flags = {"--x", "--y", "--loss", "--log-loss", "--smooth"},
     .make = [](const PlotRequest& request) -> absl::StatusOr<Figure> {
       ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(request.runs));
       ASSIGN_OR_RETURN(const Vertical loss, LossOf(request, Vertical::kTrainLoss));
       ASSIGN_OR_RETURN(
           Page page,
           ConvergencePage(
               runs, {.x = request.x, .y = request.y, .loss = loss, .log_loss = request.log_loss}));
       return page;
     }});

}  // namespace

}  // namespace grapevine
