// --kind=convergence: loss, accuracy and consensus distance of runs as they go.
#ifndef GRAPEVINE_REPORT_KINDS_CONVERGENCE_H_
#define GRAPEVINE_REPORT_KINDS_CONVERGENCE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"
#include "report/series.h"

namespace grapevine {

// One column of panels for each of epoch, bytes and time, or for the one that `x` names, with loss,
// accuracy and consensus distance as rows. If there is only one column, its panels are side by
// side. `x` is "epoch", "bytes", "time", "all" or empty, else kUsage. kInput if nothing was
// measured that could be drawn.
absl::StatusOr<Page> ConvergencePage(const std::vector<RecordedRun>& runs,
                                     const std::string& x = "",
                                     Vertical loss = Vertical::kTrainLoss);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_KINDS_CONVERGENCE_H_
