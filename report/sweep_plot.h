// Pictures of sweeps, which `grapevine plot --kind=` draws besides convergence: how methods
// respond to bandwidth, latency and more nodes, and which one wins where.
#ifndef GRAPEVINE_REPORT_SWEEP_PLOT_H_
#define GRAPEVINE_REPORT_SWEEP_PLOT_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"

namespace grapevine {

// Seconds per round against bandwidth, one panel per latency, and against latency, one panel per
// bandwidth (of more than three the lowest, the middle and the highest): figure 3 of Lian et al.
// 2017. A latency of 0 has no place on a logarithmic axis and is omitted there. kInput if neither
// varies.
absl::StatusOr<Page> StepTimePage(std::span<const SweptCell> cells);

// Gradients per second against the number of nodes, relative to the highest that any curve
// reaches with the fewest nodes; with the line of perfect scaling. kInput if there is only one
// number of nodes.
absl::StatusOr<Page> SpeedUpPage(std::span<const SweptCell> cells);

enum class SweepPicture { kStepTime, kWinner, kSpeedUp };

struct SweepPlotOptions {
  SweepPicture picture = SweepPicture::kStepTime;
  std::vector<std::string> sweeps;  // folders of sweeps, or of their cells
  std::string output;               // a .png or .svg file
  std::optional<std::string> title;
};

// Reads the sweeps, draws them and writes `output` completely or not at all. Errors are kUsage,
// kInput or kOutput and name the file, or the flag whose list is missing.
absl::Status PlotSweep(const SweepPlotOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_PLOT_H_
