#include "report/sweep_plot.h"

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "report/gnuplot_script.h"
#include "report/picture.h"
#include "report/sweep_figure.h"
#include "report/sweep_reader.h"
#include "report/winner_map.h"

namespace grapevine {
namespace {

absl::Status DrawWinner(const std::vector<SweptCell>& cells, PictureFormat format,
                        const SweepPlotOptions& options) {
  ASSIGN_OR_RETURN(WinnerMap map, MakeWinnerMap(cells));
  if (options.title) map.title = *options.title;
  return WritePicture(options.output,
                      [&](const std::string& name) { return WinnerScript(map, format, name); });
}

absl::Status DrawPage(absl::StatusOr<Page> page, PictureFormat format,
                      const SweepPlotOptions& options) {
  if (!page.ok()) return page.status();
  if (options.title) page->title = *options.title;
  return WritePicture(options.output,
                      [&](const std::string& name) { return GnuplotScript(*page, format, name); });
}

}  // namespace

absl::Status PlotSweep(const SweepPlotOptions& options) {
  ASSIGN_OR_RETURN(const PictureFormat format, FormatOf(options.output));
  ASSIGN_OR_RETURN(const std::vector<SweptCell> cells, ReadSweep(options.sweeps));
  switch (options.picture) {
    case SweepPicture::kWinner:
      return DrawWinner(cells, format, options);
    case SweepPicture::kSpeedUp:
      return DrawPage(SpeedUpPage(cells), format, options);
    case SweepPicture::kStepTime:
      break;
  }
  return DrawPage(StepTimePage(cells), format, options);
}

}  // namespace grapevine
