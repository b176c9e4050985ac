// --kind=speed-up: how methods respond to more nodes.
#ifndef GRAPEVINE_REPORT_KINDS_SPEED_UP_H_
#define GRAPEVINE_REPORT_KINDS_SPEED_UP_H_

#include <span>

#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"

namespace grapevine {

// Gradients per second against the number of nodes, relative to the highest that any curve
// reaches with the fewest nodes; with the line of perfect scaling. kInput if there is only one
// number of nodes.
absl::StatusOr<Page> SpeedUpPage(std::span<const SweptCell> cells);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_KINDS_SPEED_UP_H_
