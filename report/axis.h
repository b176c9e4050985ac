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
  std::vector<double> tics;  // set where gnuplot's own choice would leave the axis bare
  // Labels and their positions, which replace numbers; may be empty.
  std::vector<std::pair<std::string, double>> named_tics;
  std::string unit_of_names;  // unit of the values behind named tics with units of their own: "s"
  double low = 0, high = 1;   // in `unit`; low < high, both positive if logarithmic
};

// Returns an axis that fits all of `curves`, in a unit that keeps numbers short. Both overloads
// ignore curves without points and, if the axis is logarithmic, points at or below 0.
Axis AxisOf(Horizontal x, std::span<const Band> curves);
// The axis of consensus distances is logarithmic whatever `logarithmic` says.
Axis AxisOf(Vertical y, std::span<const Band> curves, bool logarithmic = false);

// Returns the label of the axis, followed by `unit_of_names` if it is set: "latency (s)".
std::string NameOf(const Axis& axis);

// Limits the axis to `low` .. `high`, in its unit; nothing is drawn outside. Requires low < high,
// and both above 0 if the axis is logarithmic.
void Limit(double low, double high, Axis* axis);

// Returns a vertical axis for a quantity that is usually horizontal, from 0, with room above for
// the notes on bars.
Axis UpwardsAxisOf(Horizontal y, std::span<const Band> curves);

// Returns a horizontal axis for groups of bars at 0, 1, ..., one for each name (a name may be
// empty).
Axis AxisOfBars(std::string label, const std::vector<std::string>& names);

// Returns a value without a unit, in at most six significant figures: "0.05".
std::string PlainNumber(double value);

// Returns a logarithmic axis with a tic labelled name(value) at each of `values` (not empty), or at
// some of them if the labels would overlap. The axis is linear if a value is not above 0.
Axis AxisOfValues(std::string label, const std::set<double>& values,
                  const std::function<std::string(double)>& name = &PlainNumber);

// Returns a vertical axis in percent, from 0.
Axis AxisOfPercent(std::string label, std::span<const Band> curves);

// Returns a vertical, logarithmic axis.
Axis AxisOfAmounts(std::string label, std::span<const Band> curves);

// Returns a logarithmic axis for the vertical extent of `curves`, in seconds, with tics such as
// "10ms", "20ms", "50ms".
Axis AxisOfSeconds(std::string label, std::span<const Band> curves);

// Return the names of values of --bandwidth (bits per second) and --latency (seconds).
std::string BandwidthName(double bits_per_second);
std::string LatencyName(double seconds);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_AXIS_H_
