#include "report/sweep_axis.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "base/units.h"

namespace grapevine {
namespace {

// Names closer than this part of the axis would overlap.
constexpr double kRoomOfAName = 0.12;
// Tics at 1, 2 and 5 up to so many powers of ten, at 1 alone beyond.
constexpr double kFineDecades = 2.5;

void WithMargin(double low, double high, Axis* axis) {
  const double margin = std::max(std::pow(high / low, 0.05), 1.1);
  axis->logarithmic = true;
  axis->low = low / margin;
  axis->high = high * margin;
}

}  // namespace

Axis AxisOfValues(std::string label, const std::set<double>& values,
                  const std::function<std::string(double)>& name) {
  Axis axis;
  axis.label = std::move(label);
  WithMargin(*values.begin(), *values.rbegin(), &axis);
  const double length = std::log(axis.high / axis.low);
  double last = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    const double place = std::log(value / axis.low) / length;
    if (place - last < kRoomOfAName) continue;
    axis.named_tics.emplace_back(name(value), value);
    last = place;
  }
  return axis;
}

Axis AxisOfSeconds(std::string label, std::span<const Band> curves) {
  double low = std::numeric_limits<double>::infinity();
  double high = 0;
  for (const Band& curve : curves) {
    for (const BandPoint& point : curve) {
      low = std::min(low, point.low);
      high = std::max(high, point.high);
    }
  }
  Axis axis;
  axis.label = std::move(label);
  if (high == 0) return axis;
  WithMargin(low, high, &axis);
  const bool fine = std::log10(axis.high / axis.low) <= kFineDecades;
  for (int decade = -9; decade <= 9; ++decade) {
    for (const double step : {1.0, 2.0, 5.0}) {
      const double tic = step * std::pow(10, decade);
      if ((step != 1 && !fine) || tic < axis.low || tic > axis.high) continue;
      axis.named_tics.emplace_back(LatencyName(tic), tic);
    }
  }
  return axis;
}

std::string BandwidthName(double bits_per_second) {
  return FormatBandwidth(std::llround(bits_per_second));
}

std::string LatencyName(double seconds) {
  return FormatDuration(std::chrono::nanoseconds(std::llround(1e9 * seconds)));
}

}  // namespace grapevine
