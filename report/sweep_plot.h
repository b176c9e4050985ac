// Pictures of sweeps: what `grapevine plot --kind=` draws beside convergence.
#ifndef GRAPEVINE_REPORT_SWEEP_PLOT_H_
#define GRAPEVINE_REPORT_SWEEP_PLOT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

namespace grapevine {

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
