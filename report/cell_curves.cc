#include "report/cell_curves.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "report/curve.h"

namespace grapevine {

std::vector<const Config*> ConfigsOfCells(std::span<const SweptCell> cells) {
  std::vector<const Config*> configs;
  for (const SweptCell& cell : cells) configs.push_back(&cell.config);
  return configs;
}

CellLabels LabelsOf(std::span<const Config* const> configs, const std::set<std::string>& apart) {
  CellLabels labels{CurveLabels(configs, apart), {}};
  for (const std::string& label : labels.of_cell) {
    if (std::ranges::find(labels.distinct, label) == labels.distinct.end()) {
      labels.distinct.push_back(label);
    }
  }
  return labels;
}

CellLabels LabelsOf(std::span<const SweptCell> cells, const std::set<std::string>& apart) {
  return LabelsOf(ConfigsOfCells(cells), apart);
}

std::vector<Band> BandsOfCells(std::span<const SweptCell> cells, const CellLabels& labels,
                               const CellValue& x, const CellValue& y) {
  std::vector<RunPoint> points;
  for (const SweptCell& cell : cells) points.push_back({x(cell), y(cell)});
  return BandsOfPoints(points, labels);
}

std::vector<Band> BandsOfPoints(std::span<const RunPoint> runs, const CellLabels& labels) {
  std::vector<std::map<double, std::vector<double>>> points(labels.distinct.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].x || !runs[i].y) continue;
    const size_t curve =
        std::ranges::find(labels.distinct, labels.of_cell[i]) - labels.distinct.begin();
    points[curve][*runs[i].x].push_back(*runs[i].y);
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

std::set<double> ValuesOf(std::span<const SweptCell> cells, const CellValue& value) {
  std::set<double> values;
  for (const SweptCell& cell : cells) {
    if (const std::optional<double> one = value(cell)) values.insert(*one);
  }
  return values;
}

}  // namespace grapevine
