// Curves of sweeps: how methods take to bandwidth, to latency, and to more nodes.
#ifndef GRAPEVINE_REPORT_SWEEP_FIGURE_H_
#define GRAPEVINE_REPORT_SWEEP_FIGURE_H_

#include <span>

#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/sweep_reader.h"

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

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_FIGURE_H_
