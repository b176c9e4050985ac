// --kind=winner-target: the map of report/winner_map.h, by the time to a test accuracy.
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/curve.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/target.h"
#include "report/winner_map.h"

namespace grapevine {
namespace {

absl::StatusOr<Figure> WinnerTargetMap(const PlotRequest& request) {
  ASSIGN_OR_RETURN(const std::vector<SweptCell> cells, ReadMeasuredSweep(request.runs));
  ASSIGN_OR_RETURN(const double target, RequiredTargetOf(request.target, ConfigsOfCells(cells)));
  bool met = false;
  const WinnerTime time = [&](const SweptCell& cell) -> absl::StatusOr<double> {
    ASSIGN_OR_RETURN(const RecordedRun run, ReadRun(cell.path));
    const RunMetrics* const first = FirstToMeet(target, run.metrics);
    met = met || first != nullptr;
    return first == nullptr ? std::numeric_limits<double>::infinity() : first->time_s;
  };
  ASSIGN_OR_RETURN(WinnerMap map, MakeWinnerMap(cells, time));
  if (!met) return NobodyMet(target);
  map.notes = {absl::StrCat("by the time to ", TargetName(target), " test accuracy;"),
               "blank: no method reached it; alone: none of the other side did"};
  return map;
}

const Registration kWinnerTarget(
    PlotKinds(), {.name = "winner-target",
                  .options = "",
                  .help = "of a sweep: who is first at --target-accuracy, by bandwidth and latency",
                  .flags = {"--target-accuracy"},
                  .make = WinnerTargetMap});

}  // namespace
}  // namespace grapevine
