#include <algorithm>
#include <iterator>
#include <optional>
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
namespace {

// One of the two quantities against which a step's time is drawn.
struct Quantity {
  const char* flag;
  const char* label;
  const char* unit;  // unit of `value`
  CellValue value;
  std::string (*name)(double);
};

const Quantity kBandwidth{"--bandwidth", "bandwidth", "bit/s", &SweptCell::bandwidth,
                          &BandwidthName};
const Quantity kLatency{"--latency", "latency, one way", "s", &SweptCell::latency, &LatencyName};

std::vector<std::optional<double>> LeastMiddleGreatest(const std::set<double>& values) {
  std::vector<std::optional<double>> chosen(values.begin(), values.end());
  // Without any value, the network has its own.
  if (chosen.empty()) return {std::nullopt};
  if (chosen.size() > 3) chosen = {chosen.front(), chosen[chosen.size() / 2], chosen.back()};
  return chosen;
}

// Returns a row of panels against `x`, one for each value of the other quantity.
std::vector<Panel> StepTimeRow(std::span<const SweptCell> cells, const CellLabels& labels,
                               const Quantity& x, const Quantity& other) {
  std::set<double> values = ValuesOf(cells, x.value);
  values.erase(0.0);
  if (values.size() < 2) return {};
  std::vector<Panel> row;
  for (const std::optional<double>& fixed : LeastMiddleGreatest(ValuesOf(cells, other.value))) {
    const CellValue at = [&](const SweptCell& cell) -> std::optional<double> {
      return other.value(cell) == fixed ? x.value(cell) : std::nullopt;
    };
    const CellValue seconds = [](const SweptCell& cell) { return cell.seconds_per_round; };
    Panel panel{.x = AxisOfValues(x.label, values, x.name),
                .curves = BandsOfCells(cells, labels, at, seconds)};
    panel.x.unit_of_names = x.unit;
    if (fixed) panel.title = absl::StrCat(other.flag + 2, " ", other.name(*fixed));
    row.push_back(std::move(panel));
  }
  return row;
}

void AppendRow(std::vector<Panel> row, size_t columns, std::vector<Panel>* panels) {
  if (row.empty()) return;
  const size_t missing = columns - row.size();
  std::ranges::move(row, std::back_inserter(*panels));
  for (size_t i = 0; i < missing; ++i) panels->push_back(Panel{.blank = true});
}

}  // namespace

absl::StatusOr<Page> StepTimePage(std::span<const SweptCell> cells) {
  const CellLabels labels = LabelsOf(cells, {"bandwidth", "latency"});
  std::vector<Panel> bandwidths = StepTimeRow(cells, labels, kBandwidth, kLatency);
  std::vector<Panel> latencies = StepTimeRow(cells, labels, kLatency, kBandwidth);
  if (bandwidths.empty() && latencies.empty()) {
    return InputError(
        "the sweep has one bandwidth and one latency; give --bandwidth or --latency a list");
  }
  Page page{.title = CommonTitle(ConfigsOfCells(cells)), .labels = labels.distinct};
  const size_t columns = std::max(bandwidths.size(), latencies.size());
  AppendRow(std::move(bandwidths), columns, &page.panels);
  AppendRow(std::move(latencies), columns, &page.panels);
  page.columns = static_cast<int>(columns);
  page.shared_columns = false;
  // All panels share a vertical axis, so that rows can be compared too.
  std::vector<Band> all;
  for (const Panel& panel : page.panels) {
    all.insert(all.end(), panel.curves.begin(), panel.curves.end());
  }
  for (Panel& panel : page.panels) panel.y = AxisOfSeconds("time of a round", all);
  return page;
}

namespace {

const Registration kStepTime(
    PlotKinds(), {.name = "step-time",
                  .options = "",
                  .help = "of a sweep: the time of a round against bandwidth and against latency",
                  .flags = {},
                  .make = [](const PlotRequest& request) -> absl::StatusOr<Figure> {
                    ASSIGN_OR_RETURN(const std::vector<SweptCell> cells, ReadSweep(request.runs));
                    ASSIGN_OR_RETURN(Page page, StepTimePage(cells));
                    return page;
                  }});

}  // namespace

}  // namespace grapevine
