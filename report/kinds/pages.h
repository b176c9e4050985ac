// The pages that kinds of pictures make of runs, for callers that have read the runs.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_KINDS_PAGES_H_
#define GRAPEVINE_REPORT_KINDS_PAGES_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {

struct ConvergenceOptions {
  std::string x;  // "epoch", "bytes", "time", "all" or empty: all
  std::string y;  // "loss", "accuracy", "consensus", "all" or empty: all
  Vertical loss = Vertical::kTrainLoss;
  bool log_loss = false;
};

// --kind=convergence: loss, accuracy and consensus distance of runs as they go.
//
// One column of panels for each of epoch, bytes and time, or for the one that `x` names, with loss,
// accuracy and consensus distance as rows, or the one that `y` names. If there is only one column,
// its panels are side by side. kUsage for other names. kInput if nothing was measured that could be
// drawn.
absl::StatusOr<Page> ConvergencePage(const std::vector<RecordedRun>& runs,
                                     const ConvergenceOptions& options = {});

// --kind=speed-up: how methods respond to more nodes.
//
// Gradients per second against the number of nodes, relative to the highest that any curve
// reaches with the fewest nodes; with the line of perfect scaling. kInput if there is only one
// number of nodes.
absl::StatusOr<Page> SpeedUpPage(std::span<const SweptCell> cells);

// --kind=step-time: how methods respond to bandwidth and latency.
//
// Seconds per round against bandwidth, one panel per latency, and against latency, one panel per
// bandwidth (of more than three the lowest, the middle and the highest): figure 3 of Lian et al.
// 2017. A latency of 0 has no place on a logarithmic axis and is omitted there. kInput if neither
// varies.
absl::StatusOr<Page> StepTimePage(std::span<const SweptCell> cells);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_KINDS_PAGES_H_
