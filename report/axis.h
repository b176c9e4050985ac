// An axis of a panel: its unit, its range, its label.
#ifndef GRAPEVINE_REPORT_AXIS_H_
#define GRAPEVINE_REPORT_AXIS_H_

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "report/series.h"

namespace grapevine {

struct Axis {
  std::string label;  // with its unit: "bytes sent by all nodes (MB)"
  double unit = 1;    // values are divided by it
  bool logarithmic = false;
  bool decades = false;      // tics at powers of ten, written as such
  std::vector<double> tics;  // where gnuplot's own choice would leave the axis bare
  // In place of numbers: what is written, and where.
  std::vector<std::pair<std::string, double>> named_tics;
  double low = 0, high = 1;  // in that unit; low < high, both positive if logarithmic
};

// Fit for all of `curves`, in a unit that keeps numbers short. Curves without
// points, and on a logarithmic axis points at or below 0, do not count.
Axis AxisOf(Horizontal x, std::span<const Band> curves);
Axis AxisOf(Vertical y, std::span<const Band> curves);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_AXIS_H_
