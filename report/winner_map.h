// A map of which side wins, gossip or a centralized method, over bandwidth and latency.
#ifndef GRAPEVINE_REPORT_WINNER_MAP_H_
#define GRAPEVINE_REPORT_WINNER_MAP_H_

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/gnuplot.h"
#include "report/run_reader.h"

namespace grapevine {

struct WinnerMap {
  struct Cell {
    std::string winner;  // the method
    // Time of the best centralized method over that of the best gossip method: above 1 where gossip
    // wins. Infinite, or 0, where the other side never reaches the goal.
    double advantage = 1;
  };

  std::string title;
  std::vector<std::string> notes;  // lines below the map: what is compared
  std::vector<double> bandwidths;  // bits a second, ascending: left to right
  std::vector<double> latencies;   // seconds, ascending: bottom to top
  // One row per latency; absent if a side has no finished cell, or neither side reaches the goal.
  std::vector<std::optional<Cell>> cells;
};

// The time by which methods are compared, in seconds; infinite if the cell never reaches the goal.
using WinnerTime = std::function<absl::StatusOr<double>(const SweptCell&)>;

// Makes the map of `cells`. Averages cells that differ only in the seed, and passes on errors of
// `time`. kInput, naming what is missing, unless bandwidth and latency vary, nothing else but
// method and seed does, and both sides have cells.
absl::StatusOr<WinnerMap> MakeWinnerMap(std::span<const SweptCell> cells, const WinnerTime& time);

// Returns the script of a heat map: the winner's name and factor in each cell; blue where gossip
// wins, orange where a centralized method does, deeper for larger factors. With a width, in
// centimetres on paper, the map is drawn larger or smaller as a whole.
std::string WinnerScript(const WinnerMap& map, PictureFormat format, const std::string& output,
                         std::optional<double> width_cm = std::nullopt);

// Returns kUsage if `width_cm` makes the letters of the map too small to be read.
absl::Status CheckWidth(const WinnerMap& map, double width_cm);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_WINNER_MAP_H_
