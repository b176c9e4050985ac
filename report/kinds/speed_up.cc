#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/kinds/pages.h"
#include "report/plot.h"

namespace grapevine {

absl::StatusOr<Page> SpeedUpPage(std::span<const SweptCell> cells) {
  const CellValue nodes = [](const SweptCell& cell) { return cell.config.nodes(); };
  const std::set<double> counts = ValuesOf(cells, nodes);
  if (counts.size() < 2) {
    return InputError(absl::StrCat("the sweep has one number of nodes (", *counts.begin(),
                                   "); give --nodes a list"));
  }
  const double fewest = *counts.begin();
  double unit = 0;  // gradients per second
  const auto rate = [](const SweptCell& cell) { return cell.workers / cell.seconds_per_round; };
  for (const SweptCell& cell : cells) {
    if (cell.config.nodes() == fewest) unit = std::max(unit, rate(cell));
  }
  const CellLabels labels = LabelsOf(cells, {"nodes"});
  Panel panel{.x = AxisOfValues("nodes", counts),
              .curves = BandsOfCells(cells, labels, nodes,
                                     [&](const SweptCell& cell) { return rate(cell) / unit; }),
              .reference = {{fewest, 1, 1, 1},
                            {*counts.rbegin(), *counts.rbegin() / fewest, *counts.rbegin() / fewest,
                             *counts.rbegin() / fewest}},
              .reference_name = "ideal"};
  std::set<double> ups;
  for (const double count : counts) ups.insert(count / fewest);
  panel.y = AxisOfValues(
      absl::StrCat("speed-up over the fastest with ", fewest, fewest == 1 ? " node" : " nodes"),
      ups);
  for (const Band& curve : panel.curves) {
    for (const BandPoint& point : curve) panel.y.low = std::min(panel.y.low, point.low / 1.1);
  }
  // Adds tics down to the slowest curve.
  for (double tic = 0.5; tic > panel.y.low; tic /= 2) {
    panel.y.named_tics.emplace_back(PlainNumber(tic), tic);
  }
  return Page{.title = CommonTitle(ConfigsOfCells(cells)),
              .labels = labels.distinct,
              .panels = {std::move(panel)},
              .columns = 1};
}

namespace {

const Registration kSpeedUp(
    PlotKinds(), {.name = "speed-up",
                  .options = "",
                  .help = "of a sweep: gradients per second against nodes, relative to the fewest",
                  .flags = {},
                  .make = [](const PlotRequest& request) -> absl::StatusOr<Figure> {
                    ASSIGN_OR_RETURN(const std::vector<SweptCell> cells, ReadSweep(request.runs));
                    ASSIGN_OR_RETURN(Page page, SpeedUpPage(cells));
                    return page;
                  }});

}  // namespace

}  // namespace grapevine
