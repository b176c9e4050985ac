// The cells of a sweep as curves: one quantity of a whole run against another.
#ifndef GRAPEVINE_REPORT_CELL_CURVES_H_
#define GRAPEVINE_REPORT_CELL_CURVES_H_

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "report/run_reader.h"
#include "report/series.h"
#include "run/config/config.pb.h"

namespace grapevine {

// Absent where a cell has none.
using CellValue = std::function<std::optional<double>(const SweptCell&)>;

std::vector<const Config*> ConfigsOfCells(std::span<const SweptCell> cells);

// The curve of every cell, and the curves' names in order.
struct CellLabels {
  std::vector<std::string> of_cell;
  std::vector<std::string> distinct;
};

// CurveLabels (report/curve.h), without what is on an axis.
CellLabels LabelsOf(std::span<const Config* const> configs, const std::set<std::string>& apart);
CellLabels LabelsOf(std::span<const SweptCell> cells, const std::set<std::string>& apart);

// Of one run, if it has both.
struct RunPoint {
  std::optional<double> x, y;
};

// One curve for each label; a point joins the runs, in the order of the labels, that differ only in
// the seed (or in a graph that plays no part).
std::vector<Band> BandsOfPoints(std::span<const RunPoint> points, const CellLabels& labels);

// The same of cells.
std::vector<Band> BandsOfCells(std::span<const SweptCell> cells, const CellLabels& labels,
                               const CellValue& x, const CellValue& y);

// All values that occur.
std::set<double> ValuesOf(std::span<const SweptCell> cells, const CellValue& value);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_CELL_CURVES_H_
