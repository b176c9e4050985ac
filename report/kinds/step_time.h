// --kind=step-time: how methods respond to bandwidth and latency.
#ifndef GRAPEVINE_REPORT_KINDS_STEP_TIME_H_
#define GRAPEVINE_REPORT_KINDS_STEP_TIME_H_

#include <span>

#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"

namespace grapevine {

// Seconds per round against bandwidth, one panel per latency, and against latency, one panel per
// bandwidth (of more than three the lowest, the middle and the highest): figure 3 of Lian et al.
// 2017. A latency of 0 has no place on a logarithmic axis and is omitted there. kInput if neither
// varies.
absl::StatusOr<Page> StepTimePage(std::span<const SweptCell> cells);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_KINDS_STEP_TIME_H_
