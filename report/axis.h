// An axis of a panel, for runs and for sweeps: its unit, range and label.
#ifndef GRAPEVINE_REPORT_AXIS_H_
#define GRAPEVINE_REPORT_AXIS_H_

#include <functional>
#include <set>
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
  // Instead of numbers: labels and their positions.
  std::vector<std::pair<std::string, double>> named_tics;
  std::string unit_of_names;  // of the values that names with their own units stand for: "s"
  double low = 0, high = 1;   // in that unit; low < high, both positive if logarithmic
};

// An axis that fits all of `curves`, in a unit that keeps numbers short. Ignores curves without
// points and, if logarithmic, points at or below 0.
Axis AxisOf(Horizontal x, std::span<const Band> curves);
// Consensus distances are logarithmic anyway.
Axis AxisOf(Vertical y, std::span<const Band> curves, bool logarithmic = false);

// With the unit of what names stand for, where an axis has names: "latency (s)".
std::string NameOf(const Axis& axis);

// From `low` to `high`, in its unit, below and above which nothing is drawn: low < high, both above
// 0 if it is logarithmic.
void Limit(double low, double high, Axis* axis);

// The same quantity as a vertical axis, from 0, with room above for what is written on bars.
Axis UpwardsAxisOf(Horizontal y, std::span<const Band> curves);

// Horizontal, for groups of bars at 0, 1, ..., one for each name (which may be empty).
Axis AxisOfBars(std::string label, const std::vector<std::string>& names);

// "0.05": a value without a unit, in six figures at most.
std::string PlainNumber(double value);

// Logarithmic, with a tic labelled name(value) at each of `values` (not empty), or at some of them
// if they would overlap; linear if one is not above 0.
Axis AxisOfValues(std::string label, const std::set<double>& values,
                  const std::function<std::string(double)>& name = &PlainNumber);

// Vertical, in percent, from 0.
Axis AxisOfPercent(std::string label, std::span<const Band> curves);

// Vertical and logarithmic.
Axis AxisOfAmounts(std::string label, std::span<const Band> curves);

// Logarithmic, for the vertical extent of `curves`, in seconds: "10ms", "20ms", "50ms".
Axis AxisOfSeconds(std::string label, std::span<const Band> curves);

// Names of the values of --bandwidth (bits a second) and --latency (seconds).
std::string BandwidthName(double bits_per_second);
std::string LatencyName(double seconds);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_AXIS_H_
