// --kind=winner: report/winner_map.h of a sweep.
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "report/plot_kind.h"
#include "report/run_reader.h"
#include "report/winner_map.h"

namespace grapevine {
namespace {

const Registration kWinner(PlotKinds(),
                           {.name = "winner",
                            .options = "",
                            .help = "of a simulated sweep: gossip or centralized, whose rounds are "
                                    "faster, over bandwidth and latency",
                            .flags = {},
                            .make = [](const PlotRequest& request) -> absl::StatusOr<Figure> {
                              ASSIGN_OR_RETURN(const std::vector<SweptCell> cells,
                                               ReadSweep(request.runs));
                              ASSIGN_OR_RETURN(WinnerMap map, MakeWinnerMap(cells));
                              return map;
                            }});

}  // namespace

}  // namespace grapevine
