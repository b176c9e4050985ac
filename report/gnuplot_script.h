// A page of panels as a gnuplot script.
//
// The script is self-contained: data inline, no file but its output, and texts
// from outside only in single quotes, where gnuplot substitutes nothing.
#ifndef GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_
#define GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_

#include <string>
#include <vector>

#include "report/series.h"

namespace grapevine {

enum class PictureFormat { kPng, kSvg };

struct Panel {
  Horizontal x;
  Vertical y;
  // One a curve, in the order of Page::labels; may be empty.
  std::vector<Band> curves;
};

struct Page {
  std::string title;
  std::vector<std::string> labels;  // one a curve
  // Row by row. Rows share their vertical axis when `shared_rows` is set.
  std::vector<Panel> panels;
  int columns = 3;
  bool shared_rows = true;
};

// The picture goes to `output` in gnuplot's working directory.
std::string GnuplotScript(const Page& page, PictureFormat format, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_SCRIPT_H_
