#include "report/page/block.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "absl/strings/str_format.h"

namespace grapevine {
namespace {

// The points of a curve for which a chart has room.
constexpr size_t kPointsOfACurve = 400;

PageBlock AxisOnPage(const Axis& axis) {
  PageBlock json = {{"label", axis.label},
                    {"logarithmic", axis.logarithmic},
                    {"low", SixDigits(axis.low)},
                    {"high", SixDigits(axis.high)}};
  if (!axis.named_tics.empty()) json["names"] = axis.named_tics;
  return json;
}

// Returns the points of `band` in the units of the axes.
PageBlock CurveOnPage(const Band& band, const Panel& panel) {
  PageBlock points = PageBlock::array();
  for (const BandPoint& point : Thin(band, kPointsOfACurve)) {
    points.push_back({SixDigits(point.x / panel.x.unit), SixDigits(point.low / panel.y.unit),
                      SixDigits(point.mean / panel.y.unit), SixDigits(point.high / panel.y.unit)});
  }
  return points;
}

PageBlock PanelOnPage(const NamedPanel& named) {
  const Panel& panel = *named.panel;
  PageBlock curves = PageBlock::array();
  for (const Band& band : panel.curves) curves.push_back(CurveOnPage(band, panel));
  return {{"name", named.name},
          {"bars", panel.bars},
          {"x", AxisOnPage(panel.x)},
          {"y", AxisOnPage(panel.y)},
          {"curves", std::move(curves)}};
}

bool IsEmptyColumn(const Table& table, size_t column) {
  return std::ranges::all_of(table.rows, [column](const auto& row) { return row[column].empty(); });
}

}  // namespace

double SixDigits(double value) {
  return std::isfinite(value) ? std::strtod(absl::StrFormat("%.6g", value).c_str(), nullptr)
                              : value;
}

PageBlock TextBlock(const std::string& text) { return {{"kind", "text"}, {"text", text}}; }

PageBlock CommandBlock(const std::string& text) { return {{"kind", "command"}, {"text", text}}; }

PageBlock TableBlock(const std::string& caption, const Table& table) {
  Table shown;
  shown.rows.resize(table.rows.size());
  for (size_t column = 0; column < table.header.size(); ++column) {
    if (IsEmptyColumn(table, column)) continue;
    shown.header.push_back(table.header[column]);
    for (size_t row = 0; row < table.rows.size(); ++row) {
      shown.rows[row].push_back(table.rows[row][column]);
    }
  }
  return {{"kind", "table"}, {"caption", caption}, {"header", shown.header}, {"rows", shown.rows}};
}

PageBlock FoldedTableBlock(const std::string& caption, const Table& table) {
  PageBlock block = TableBlock(caption, table);
  block["folded"] = true;
  return block;
}

PageBlock ChartBlock(const std::string& title, const std::vector<std::string>& labels,
                     const std::vector<size_t>& colours, const std::vector<NamedPanel>& panels) {
  PageBlock shown = PageBlock::array();
  for (const NamedPanel& panel : panels) shown.push_back(PanelOnPage(panel));
  return {{"kind", "chart"},
          {"title", title},
          {"labels", labels},
          {"colours", colours},
          {"panels", std::move(shown)}};
}

}  // namespace grapevine
