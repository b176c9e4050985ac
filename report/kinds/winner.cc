// --kind=winner: the map of report/winner_map.h, by the time of a round.
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/status.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "report/winner_map.h"

namespace grapevine {
namespace {

// Returns a time that is fair to methods that use some nodes as servers.
absl::StatusOr<double> RoundTime(const SweptCell& cell) { return cell.seconds_per_gradients(); }

const Registration kWinner(
    PlotKinds(),
    {.name = "winner",
     .options = "",
     .help = "of a sweep: whose rounds are faster, gossip's or not, by bandwidth and latency",
     .flags = {},
     .make = [](const PlotRequest& request) -> absl::StatusOr<Figure> {
       ASSIGN_OR_RETURN(const std::vector<SweptCell> cells, ReadSweep(request.runs));
       ASSIGN_OR_RETURN(WinnerMap map, MakeWinnerMap(cells, &RoundTime));
       map.notes = {"by the time of a round; rounds do not learn alike:",
                    "see --kind=winner-target for the time to an accuracy"};
       return map;
     }});

}  // namespace

}  // namespace grapevine
