// Adjustments that users make to a page of curves of any kind: the names in its legend, the limits
// of its axes, and the smoothness of its curves.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_ADJUSTMENT_H_
#define GRAPEVINE_REPORT_ADJUSTMENT_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "report/gnuplot_script.h"

namespace grapevine {

// Adjustments as the texts of their flags; Adjust checks them.
struct Adjustment {
  std::vector<std::string> legend;  // a name for each curve, in their order; empty: unchanged
  // "A:B", in the units of the axes. An empty side stays as it is; "" changes neither side.
  std::string x_range, y_range;
  std::string smooth;  // number of points that are averaged; empty: one
};

// Applies `adjustment` to `page`. Errors are kUsage and name the flag: a legend whose number of
// names is not the number of curves (the message lists the curves); a text that is no range, or a
// range for panels with different axes; an invalid number of points.
absl::Status Adjust(const Adjustment& adjustment, Page* page);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_ADJUSTMENT_H_
