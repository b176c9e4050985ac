// Logarithmic axes of what sweeps vary and measure.
#ifndef GRAPEVINE_REPORT_SWEEP_AXIS_H_
#define GRAPEVINE_REPORT_SWEEP_AXIS_H_

#include <functional>
#include <set>
#include <span>
#include <string>

#include "report/axis.h"
#include "report/series.h"

namespace grapevine {

// With a tic at each of `values` (above 0, not empty), or at some of them where
// they would overlap, called what `name` says.
Axis AxisOfValues(std::string label, const std::set<double>& values,
                  const std::function<std::string(double)>& name);

// For the vertical extent of `curves`, in seconds: "10ms", "20ms", "50ms".
Axis AxisOfSeconds(std::string label, std::span<const Band> curves);

// Names of the values of --bandwidth (bits a second) and --latency (seconds).
std::string BandwidthName(double bits_per_second);
std::string LatencyName(double seconds);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_AXIS_H_
