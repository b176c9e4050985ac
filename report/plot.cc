#include "report/plot.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "report/curve.h"
#include "report/gnuplot.h"
#include "run/failure.h"
#include "system/atomic_file.h"

namespace grapevine {
namespace {

absl::StatusOr<PictureFormat> FormatOf(const std::string& output) {
  if (output.ends_with(".png")) return PictureFormat::kPng;
  if (output.ends_with(".svg")) return PictureFormat::kSvg;
  return WithFailure(absl::InvalidArgumentError(absl::StrCat("cannot tell the format of ", output,
                                                             "; end its name in .png or .svg")),
                     Failure::kUsage);
}

absl::StatusOr<std::vector<RecordedRun>> ReadRuns(const std::vector<std::string>& paths) {
  std::vector<RecordedRun> runs;
  for (const std::string& path : paths) {
    const absl::StatusOr<std::vector<std::string>> found = FindRuns(path);
    if (!found.ok()) return found.status();
    for (const std::string& one : *found) {
      absl::StatusOr<RecordedRun> run = ReadRun(one);
      if (!run.ok()) return run.status();
      runs.push_back(*std::move(run));
    }
  }
  return runs;
}

Band BandOfCurve(const Curve& curve, Horizontal x, Vertical y) {
  std::vector<std::vector<Point>> series;
  for (const RecordedRun* run : curve.runs) series.push_back(SeriesOf(run->metrics, x, y));
  return BandOf(series);
}

Panel PanelOf(const std::vector<Curve>& curves, Horizontal x, Vertical y) {
  Panel panel{x, y, {}};
  for (const Curve& curve : curves) panel.curves.push_back(BandOfCurve(curve, x, y));
  return panel;
}

bool IsEmpty(const Panel& panel) {
  return std::all_of(panel.curves.begin(), panel.curves.end(),
                     [](const Band& band) { return band.empty(); });
}

}  // namespace

absl::StatusOr<Page> PageOf(const std::vector<RecordedRun>& runs, const PlotOptions& options) {
  const std::vector<Curve> curves = GroupRuns(runs);
  Page page;
  page.title = options.title.value_or(CommonTitle(runs));
  for (const Curve& curve : curves) page.labels.push_back(curve.label);
  for (const Vertical y : {options.loss, Vertical::kTestAccuracy, Vertical::kConsensusDistance}) {
    for (const Horizontal x : options.against) page.panels.push_back(PanelOf(curves, x, y));
  }
  if (std::all_of(page.panels.begin(), page.panels.end(), IsEmpty)) {
    return WithFailure(
        absl::InvalidArgumentError(absl::StrCat(
            runs.front().path, " has no loss, accuracy or consensus distance to draw")),
        Failure::kInput);
  }
  page.shared_rows = options.against.size() > 1;
  page.columns = page.shared_rows ? static_cast<int>(options.against.size()) : 3;
  return page;
}

absl::Status PlotRuns(const PlotOptions& options) {
  const absl::StatusOr<PictureFormat> format = FormatOf(options.output);
  if (!format.ok()) return format.status();
  const absl::StatusOr<std::vector<RecordedRun>> runs = ReadRuns(options.runs);
  if (!runs.ok()) return runs.status();
  const absl::StatusOr<Page> page = PageOf(*runs, options);
  if (!page.ok()) return page.status();
  // The user's path stays out of the script.
  const absl::StatusOr<std::string> picture =
      RunGnuplot(GnuplotScript(*page, *format, "picture"), "picture");
  if (!picture.ok()) return picture.status();
  absl::Status written = WriteFileAtomically(options.output, *picture);
  return written.ok() ? written : WithFailure(std::move(written), Failure::kOutput);
}

}  // namespace grapevine
