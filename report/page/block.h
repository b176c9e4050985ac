// The parts that a page is put together from: paragraphs, commands, tables and charts, as the JSON
// that the page's script (page.js) draws.
//
//   {"kind": "text", "text"}
//   {"kind": "command", "text"}
//   {"kind": "table", "caption", "header", "rows", "folded"}    folded: to be opened first
//   {"kind": "chart", "title", "labels", "colours", "panels": [{"name", "bars", "x", "y",
//    "curves"}]}                  one panel is shown at a time; a point is [x, low, mean, high]
//   {"kind": "shares", "title", "unit", "parts", "rows": [{"name", "values"}]}
//   {"kind": "graph", "title", "directed", "nodes": [{"distance", "lost"}], "edges": [{"from",
//   "to",
//    "waited_s", "slow"}]}    lost: the round from which on the node was not there
//   {"kind": "matrix", "title", "rows", "columns", "unit", "values"}
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_PAGE_BLOCK_H_
#define GRAPEVINE_REPORT_PAGE_BLOCK_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/gnuplot_script.h"
#include "report/table.h"

namespace grapevine {

using PageBlock = nlohmann::ordered_json;
using PageBlocks = std::vector<PageBlock>;

PageBlock TextBlock(const std::string& text);
PageBlock CommandBlock(const std::string& text);

// Without the columns that are empty in every row.
PageBlock TableBlock(const std::string& caption, const Table& table);
// The same, to be opened first.
PageBlock FoldedTableBlock(const std::string& caption, const Table& table);

// A panel, and what chooses it where there are several: "epochs".
struct NamedPanel {
  std::string name;
  const Panel* panel;
};

// `labels` are the curves' names, `colours` which of the page's curves each belongs to.
PageBlock ChartBlock(const std::string& title, const std::vector<std::string>& labels,
                     const std::vector<size_t>& colours, const std::vector<NamedPanel>& panels);

// Six digits are more than a chart shows, and a third of the bytes.
double SixDigits(double value);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_BLOCK_H_
