// What users change about a page of curves, of whatever kind: the names in its legend, the limits
// of its axes, and how smooth its curves are.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_ADJUSTMENT_H_
#define GRAPEVINE_REPORT_ADJUSTMENT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "report/gnuplot_script.h"

namespace grapevine {

// As texts of flags, which are checked when they are used.
struct Adjustment {
  std::vector<std::string> legend;  // a name for each curve, in their order; empty: as they are
  // "A:B", in the units of the axes; a side that is empty stays as it is, and so do both in "".
  std::string x_range, y_range;
  std::string smooth;  // how many points are averaged; empty: one
};

// Errors are kUsage and name the flag: a legend that has not as many names as there are curves
// (the message lists them); a range that is no range, or of panels with different axes; a count of
// points that is none.
absl::Status Adjust(const Adjustment& adjustment, Page* page);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_ADJUSTMENT_H_
