// A page of panels with curves, as a gnuplot script (report/gnuplot.h).
#ifndef GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_
#define GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "report/axis.h"
#include "report/gnuplot.h"
#include "report/series.h"

namespace grapevine {

struct Panel {
  Axis x;
  Axis y;
  // One per curve, in the order of Page::labels; may be empty.
  std::vector<Band> curves;
  // Whether points are bars from 0, side by side where curves have the same x: 0, 1, ...
  bool bars = false;
  // Notes above the points, in the order of `curves`; may be empty, and shorter. A point whose mean
  // is not a number shows its note alone.
  std::vector<std::vector<std::string>> notes;
  std::string title;           // above the panel; may be empty
  Band reference;              // a thin grey line; may be empty
  std::string reference_name;  // written at the end of `reference`
  bool blank = false;          // a gap in the page
  // `curves` before they were smoothed, drawn faintly; may be empty.
  std::vector<Band> unsmoothed = {};
};

struct Page {
  std::string title;
  std::vector<std::string> labels;  // one per curve
  // The indices of simulated curves on a page that has real ones, too. Simulated curves are thin
  // and dashed, with open marks; the others are solid. If the label of a simulated curve does not
  // say that it is simulated, the legend says what dashes mean.
  std::set<size_t> hollow;
  std::vector<Panel> panels;  // row by row
  int columns = 3;
  // Whether the panels of a row share a vertical axis, drawn at the left, and those of a column a
  // horizontal axis, drawn at the bottom.
  bool shared_rows = true;
  bool shared_columns = true;
};

// Returns the name that all panels give to this axis; absent if they differ.
std::optional<std::string> CommonName(const std::vector<Panel>& panels, Axis Panel::*axis);

// Returns the script that draws `page` to `output` in gnuplot's working directory. With a width, in
// centimetres on paper, letters are 7.5 points high and panels fill the width; rows that share no
// axis have as many panels as remain wide enough, and a page without a title leaves no room for
// one.
std::string GnuplotScript(const Page& page, PictureFormat format, const std::string& output,
                          std::optional<double> width_cm = std::nullopt);

// Returns kUsage, with the flags that help, if a panel would be too narrow to be read.
absl::Status CheckWidth(const Page& page, double width_cm);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_
