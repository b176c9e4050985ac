#include "report/plot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "report/curve.h"
#include "report/gnuplot.h"

namespace grapevine {
namespace {

absl::StatusOr<std::vector<RecordedRun>> ReadRuns(const std::vector<std::string>& paths) {
  std::vector<RecordedRun> runs;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const std::vector<std::string> found, FindRuns(path));
    for (const std::string& one : found) {
      ASSIGN_OR_RETURN(RecordedRun run, ReadRun(one));
      runs.push_back(std::move(run));
    }
  }
  return runs;
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

// All curves of a row or a column, which share an axis.
std::vector<Band> Together(const std::vector<Panel>& panels, size_t first, size_t stride,
                           size_t count) {
  std::vector<Band> curves;
  for (size_t i = 0; i < count; ++i) {
    const std::vector<Band>& more = panels[first + i * stride].curves;
    curves.insert(curves.end(), more.begin(), more.end());
  }
  return curves;
}

bool IsSimulatedRun(const RecordedRun& run) { return IsSimulated(run.config); }
bool IsSimulatedCurve(const Curve& curve) { return IsSimulatedRun(*curve.runs.front()); }

// The "time (s)" of a simulated run is on its own clock.
void NameSimulatedTime(const std::vector<RecordedRun>& runs, Axis* axis) {
  if (std::ranges::none_of(runs, IsSimulatedRun)) return;
  const bool all = std::ranges::all_of(runs, IsSimulatedRun);
  axis->label = absl::StrCat(all ? "simulated " : "real or simulated ", axis->label);
}

// Whether anything of the curve can be drawn: a timing run has no loss and no model.
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
  const bool all_simulated = std::ranges::all_of(curves, IsSimulatedCurve);
  for (size_t i = 0; i < curves.size(); ++i) {
    page->labels.push_back(curves[i].label);
    if (!all_simulated && IsSimulatedCurve(curves[i])) page->hollow.insert(i);
  }
}

}  // namespace

absl::StatusOr<Page> PageOf(const std::vector<RecordedRun>& runs, const PlotOptions& options) {
  const Vertical rows[] = {options.loss, Vertical::kTestAccuracy, Vertical::kConsensusDistance};
  std::vector<Curve> curves = GroupRuns(runs);
  std::erase_if(curves, [&](const Curve& curve) { return !IsDrawn(curve, rows, options.against); });
  if (curves.empty()) {
    return InputError(
        absl::StrCat(runs.front().path,
                     " has no loss, accuracy or consensus distance to draw; of what learns nothing "
                     "there are pictures of sweeps: --kind=step-time, winner or speed-up"));
  }
  Page page;
  page.title = options.title.value_or(CommonTitle(ConfigsOf(runs)));
  NameCurves(curves, &page);
  for (const Vertical y : rows) {
    for (const Horizontal x : options.against) {
      page.panels.push_back({.curves = BandsOf(curves, x, y)});
    }
  }
  page.shared_rows = options.against.size() > 1;
  page.columns = page.shared_rows ? static_cast<int>(options.against.size()) : 3;
  // If there is only one horizontal quantity, its panels are side by side.
  const size_t columns = options.against.size();
  for (size_t i = 0; i < page.panels.size(); ++i) {
    const size_t column = i % columns;
    const size_t row = i / columns;
    Panel& panel = page.panels[i];
    panel.x = AxisOf(
        options.against[column],
        page.shared_rows ? Together(page.panels, column, columns, std::size(rows)) : panel.curves);
    panel.y = AxisOf(rows[row], Together(page.panels, row * columns, 1, columns));
    if (options.against[column] == Horizontal::kTime) NameSimulatedTime(runs, &panel.x);
  }
  return page;
}

absl::Status PlotRuns(const PlotOptions& options) {
  ASSIGN_OR_RETURN(const PictureFormat format, FormatOf(options.output));
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> runs, ReadRuns(options.runs));
  ASSIGN_OR_RETURN(const Page page, PageOf(runs, options));
  return WritePicture(options.output,
                      [&](const std::string& name) { return GnuplotScript(page, format, name); });
}

}  // namespace grapevine
