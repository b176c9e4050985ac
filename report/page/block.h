// The blocks of which a page consists: paragraphs, commands, tables and charts, as the JSON that
// the page's script (page.js) draws.
//
//   {"kind": "text", "text"}
//   {"kind": "command", "text"}
//   {"kind": "table", "caption", "header", "rows", "folded"}    folded: the reader opens it
//   {"kind": "chart", "title", "labels", "colours", "panels": [{"name", "bars", "x", "y",
//    "curves"}]}                  one panel is shown at a time; a point is [x, low, mean, high]
//   {"kind": "shares", "title", "unit", "parts", "rows": [{"name", "values"}]}
//   {"kind": "graph", "title", "directed", "nodes": [{"distance", "lost"}],
//    "edges": [{"from", "to", "waited_s", "slow"}]}    lost: the round from which on it was gone
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

// Leaves out the columns that are empty in every row.
PageBlock TableBlock(const std::string& caption, const Table& table);
// Returns a table as TableBlock does, but folded: the reader opens it.
PageBlock FoldedTableBlock(const std::string& caption, const Table& table);

// A panel, and the name that chooses it among several: "epochs".
struct NamedPanel {
  std::string name;
  const Panel* panel;
};

// `labels` are the names of the curves; `colours` says to which curve of the page each belongs.
PageBlock ChartBlock(const std::string& title, const std::vector<std::string>& labels,
                     const std::vector<size_t>& colours, const std::vector<NamedPanel>& panels);

// Rounds `value` to six digits, which are more than a chart shows, and a third of the bytes.
double SixDigits(double value);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_BLOCK_H_
