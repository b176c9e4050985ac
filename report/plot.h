// What `grapevine plot` does: a picture of runs, or the numbers behind it.
#ifndef GRAPEVINE_REPORT_PLOT_H_
#define GRAPEVINE_REPORT_PLOT_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/plot_kind.h"
#include "report/table.h"

namespace grapevine {

struct PlotOptions {
  std::string kind = "convergence";
  PlotRequest request;
  std::optional<std::string> title;  // instead of what the runs have in common
};

// Reads the runs. kUsage for a kind that does not exist and for flags that mean nothing to it;
// else the kind's errors.
absl::StatusOr<Figure> MakeFigure(const PlotOptions& options);

// Draws to `output`, a .png or .svg file, completely or not at all. Errors are those of MakeFigure,
// kUsage or kOutput and name the file.
absl::Status WriteFigure(const PlotOptions& options, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PLOT_H_
