// A page of panels with curves, as a gnuplot script (report/gnuplot.h).
#ifndef GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_
#define GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_

#include <set>
#include <string>
#include <vector>

#include "report/axis.h"
#include "report/gnuplot.h"
#include "report/series.h"

namespace grapevine {

struct Panel {
  Axis x;
  Axis y;
  // One per curve, in the order of Page::labels; may be empty.
  std::vector<Band> curves;
  // Points are bars from 0 instead, side by side where curves have the same x: 0, 1, ...
  bool bars = false;
  // Written above the points, in the order of `curves`; may be empty, and shorter. A point whose
  // mean is not a number is nothing but its note.
  std::vector<std::vector<std::string>> notes;
  std::string title;           // above it; may be empty
  Band reference;              // a thin grey line; may be empty
  std::string reference_name;  // written at its end
  bool blank = false;          // a gap in the page
};

struct Page {
  std::string title;
  std::vector<std::string> labels;  // one per curve
  // Curves that are drawn thin, with open marks: simulated ones beside real ones.
  std::set<size_t> hollow;
  std::vector<Panel> panels;  // row by row
  int columns = 3;
  // Whether the panels of a row share a vertical axis, drawn at the left, and those of a column a
  // horizontal axis, drawn at the bottom.
  bool shared_rows = true;
  bool shared_columns = true;
};

// The picture goes to `output` in gnuplot's working directory.
std::string GnuplotScript(const Page& page, PictureFormat format, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_
