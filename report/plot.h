// The convergence of runs as a picture: what `grapevine plot` draws.
#ifndef GRAPEVINE_REPORT_PLOT_H_
#define GRAPEVINE_REPORT_PLOT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {

struct PlotOptions {
  // Run directories, or folders of run directories.
  std::vector<std::string> runs;
  // A .png or .svg file.
  std::string output;
  // One column of panels each, with loss, accuracy and consensus distance as rows. If there is
  // only one, its panels are side by side.
  std::vector<Horizontal> against = {Horizontal::kEpoch, Horizontal::kBytes, Horizontal::kTime};
  // Which loss.
  Vertical loss = Vertical::kTrainLoss;
  // Instead of what the runs have in common.
  std::optional<std::string> title;
};

// The panels, not drawn. kInput if nothing was measured that could be drawn.
absl::StatusOr<Page> PageOf(const std::vector<RecordedRun>& runs, const PlotOptions& options);

// Reads the runs, draws them and writes `output` completely or not at all. Errors are kUsage,
// kInput or kOutput and name the file.
absl::Status PlotRuns(const PlotOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PLOT_H_
