#include "report/sweep_plot.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "report/axis.h"
#include "report/curve.h"
#include "report/gnuplot.h"
#include "report/gnuplot_script.h"
#include "report/run_reader.h"
#include "report/winner_map.h"

namespace grapevine {
namespace {

using Value = std::function<std::optional<double>(const SweptCell&)>;

std::vector<const Config*> ConfigsOfCells(std::span<const SweptCell> cells) {
  std::vector<const Config*> configs;
  for (const SweptCell& cell : cells) configs.push_back(&cell.config);
  return configs;
}

// The curve of every cell, and the curves' names in order.
struct Labelled {
  std::vector<std::string> of_cell;
  std::vector<std::string> distinct;
};

Labelled LabelsOf(std::span<const SweptCell> cells, const std::set<std::string>& apart) {
  Labelled labels{CurveLabels(ConfigsOfCells(cells), apart), {}};
  for (const std::string& label : labels.of_cell) {
    if (std::ranges::find(labels.distinct, label) == labels.distinct.end()) {
      labels.distinct.push_back(label);
    }
  }
  return labels;
}

// One curve for each label; a point joins the cells that differ only in the seed (or in a graph
// that plays no part).
std::vector<Band> BandsOfCells(std::span<const SweptCell> cells, const Labelled& labels,
                               const Value& x, const Value& y) {
  std::vector<std::map<double, std::vector<double>>> points(labels.distinct.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::optional<double> at = x(cells[i]);
    const std::optional<double> value = y(cells[i]);
    if (!at || !value) continue;
    const size_t curve =
        std::ranges::find(labels.distinct, labels.of_cell[i]) - labels.distinct.begin();
    points[curve][*at].push_back(*value);
  }
  std::vector<Band> bands;
  for (const auto& curve : points) {
    Band& band = bands.emplace_back();
    for (const auto& [at, values] : curve) {
      double sum = 0;
      for (const double value : values) sum += value;
      band.push_back({at, std::ranges::min(values), sum / static_cast<double>(values.size()),
                      std::ranges::max(values)});
    }
  }
  return bands;
}

std::set<double> ValuesOf(std::span<const SweptCell> cells, const Value& value) {
  std::set<double> values;
  for (const SweptCell& cell : cells) {
    if (const std::optional<double> one = value(cell)) values.insert(*one);
  }
  return values;
}

// One of the two quantities against which a step's time is drawn.
struct Quantity {
  const char* flag;
  const char* label;
  Value value;
  std::string (*name)(double);
};

const Quantity kBandwidth{"--bandwidth", "bandwidth", &SweptCell::bandwidth, &BandwidthName};
const Quantity kLatency{"--latency", "latency, one way", &SweptCell::latency, &LatencyName};

std::vector<std::optional<double>> LeastMiddleGreatest(const std::set<double>& values) {
  std::vector<std::optional<double>> chosen(values.begin(), values.end());
  // The network has its own value.
  if (chosen.empty()) return {std::nullopt};
  if (chosen.size() > 3) chosen = {chosen.front(), chosen[chosen.size() / 2], chosen.back()};
  return chosen;
}

// A row of panels against `x`, one for each value of the other quantity.
std::vector<Panel> StepTimeRow(std::span<const SweptCell> cells, const Labelled& labels,
                               const Quantity& x, const Quantity& other) {
  std::set<double> values = ValuesOf(cells, x.value);
  values.erase(0.0);
  if (values.size() < 2) return {};
  std::vector<Panel> row;
  for (const std::optional<double>& fixed : LeastMiddleGreatest(ValuesOf(cells, other.value))) {
    const Value at = [&](const SweptCell& cell) -> std::optional<double> {
      return other.value(cell) == fixed ? x.value(cell) : std::nullopt;
    };
    const Value seconds = [](const SweptCell& cell) { return cell.seconds_per_round; };
    Panel panel{.x = AxisOfValues(x.label, values, x.name),
                .curves = BandsOfCells(cells, labels, at, seconds)};
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

absl::Status DrawWinner(const std::vector<SweptCell>& cells, PictureFormat format,
                        const SweepPlotOptions& options) {
  ASSIGN_OR_RETURN(WinnerMap map, MakeWinnerMap(cells));
  if (options.title) map.title = *options.title;
  return WritePicture(options.output,
                      [&](const std::string& name) { return WinnerScript(map, format, name); });
}

absl::Status DrawPage(absl::StatusOr<Page> page, PictureFormat format,
                      const SweepPlotOptions& options) {
  RETURN_IF_ERROR(page.status());
  if (options.title) page->title = *options.title;
  return WritePicture(options.output,
                      [&](const std::string& name) { return GnuplotScript(*page, format, name); });
}

}  // namespace

absl::StatusOr<Page> StepTimePage(std::span<const SweptCell> cells) {
  const Labelled labels = LabelsOf(cells, {"bandwidth", "latency"});
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

absl::StatusOr<Page> SpeedUpPage(std::span<const SweptCell> cells) {
  const Value nodes = [](const SweptCell& cell) { return cell.config.nodes(); };
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
  const Labelled labels = LabelsOf(cells, {"nodes"});
  const auto count_name = [](double count) { return absl::StrCat(count); };
  Panel panel{.x = AxisOfValues("nodes", counts, count_name),
              .curves = BandsOfCells(cells, labels, nodes,
                                     [&](const SweptCell& cell) { return rate(cell) / unit; }),
              .reference = {{fewest, 1, 1, 1},
                            {*counts.rbegin(), *counts.rbegin() / fewest, *counts.rbegin() / fewest,
                             *counts.rbegin() / fewest}},
              .reference_name = "ideal"};
  std::set<double> ups;
  for (const double count : counts) ups.insert(count / fewest);
  panel.y = AxisOfValues(absl::StrCat("gradients per second (the fastest with ", fewest,
                                      fewest == 1 ? " node = 1)" : " nodes = 1)"),
                         ups, count_name);
  for (const Band& curve : panel.curves) {
    for (const BandPoint& point : curve) panel.y.low = std::min(panel.y.low, point.low / 1.1);
  }
  // Down to the slowest.
  for (double tic = 0.5; tic > panel.y.low; tic /= 2) {
    panel.y.named_tics.emplace_back(count_name(tic), tic);
  }
  return Page{.title = CommonTitle(ConfigsOfCells(cells)),
              .labels = labels.distinct,
              .panels = {std::move(panel)},
              .columns = 1};
}

absl::Status PlotSweep(const SweepPlotOptions& options) {
  ASSIGN_OR_RETURN(const PictureFormat format, FormatOf(options.output));
  ASSIGN_OR_RETURN(const std::vector<SweptCell> cells, ReadSweep(options.sweeps));
  switch (options.picture) {
    case SweepPicture::kWinner:
      return DrawWinner(cells, format, options);
    case SweepPicture::kSpeedUp:
      return DrawPage(SpeedUpPage(cells), format, options);
    case SweepPicture::kStepTime:
      break;
  }
  return DrawPage(StepTimePage(cells), format, options);
}

}  // namespace grapevine
