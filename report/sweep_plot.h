// Pictures of sweeps, what `grapevine plot --kind=` draws beside convergence: how methods
// take to bandwidth, to latency and to more nodes, and who wins where.
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

// Seconds per round against bandwidth, a panel for each latency, and against
// latency, a panel for each bandwidth (the least, the middle and the greatest of
// more than three): figure 3 of Lian et al. 2017. A latency of 0 has no place on a
// logarithmic axis and is left out there. kInput when neither varies.
absl::StatusOr<Page> StepTimePage(std::span<const SweptCell> cells);

// Gradients per second against the number of nodes, in units of the most that one
// of the curves reaches with the fewest nodes; with the line of perfect scaling.
// kInput when there is one number of nodes.
absl::StatusOr<Page> SpeedUpPage(std::span<const SweptCell> cells);

enum class SweepPicture { kStepTime, kWinner, kSpeedUp };

struct SweepPlotOptions {
  SweepPicture picture = SweepPicture::kStepTime;
  std::vector<std::string> sweeps;  // folders of sweeps, or of their cells
  std::string output;               // a .png or .svg file
  std::optional<std::string> title;
};

// Reads, draws, and writes `output` whole or not at all. Errors are kUsage,
// kInput or kOutput and name the file, or the flag whose list is missing.
absl::Status PlotSweep(const SweepPlotOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_PLOT_H_
