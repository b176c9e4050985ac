#include "report/axis.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "report/unit.h"

namespace grapevine {
namespace {

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool empty() const { return low > high; }
};

void UseUnit(const Unit& unit, Axis* axis) {
  axis->unit = unit.size;
  axis->label = absl::StrCat(axis->label, " (", unit.name, ")");
}

Range HorizontalRange(std::span<const Band> curves) {
  Range range;
  for (const Band& curve : curves) {
    for (const BandPoint& point : curve) {
      range.low = std::min(range.low, point.x);
      range.high = std::max(range.high, point.x);
    }
  }
  return range;
}

Range VerticalRange(std::span<const Band> curves, bool positive) {
  Range range;
  for (const Band& curve : curves) {
    for (const BandPoint& point : curve) {
      if (positive && point.low <= 0) continue;
      range.low = std::min(range.low, point.low);
      range.high = std::max(range.high, point.high);
    }
  }
  return range;
}

void AddTics(std::span<const double> steps, Axis* axis) {
  const int first = static_cast<int>(std::floor(std::log10(axis->low)));
  const int last = static_cast<int>(std::ceil(std::log10(axis->high)));
  for (int decade = first; decade <= last; ++decade) {
    for (const double step : steps) {
      const double tic = step * std::pow(10, decade);
      if (tic >= axis->low && tic <= axis->high) axis->tics.push_back(tic);
    }
  }
}

// Below two decades, tics at powers of ten would leave the axis nearly bare.
void FitNarrow(Axis* axis) {
  constexpr double kUsual[] = {1, 2, 5};
  constexpr double kFine[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
  AddTics(kUsual, axis);
  if (axis->tics.size() >= 2) return;
  axis->tics.clear();
  AddTics(kFine, axis);
}

void FitTics(Axis* axis) {
  axis->decades = axis->high / axis->low >= 100;
  if (!axis->decades) FitNarrow(axis);
}

void FitLogarithmic(const Range& range, Axis* axis) {
  const double margin = std::max(std::pow(range.high / range.low, 0.05), 1.1);
  axis->low = range.low / margin;
  axis->high = range.high * margin;
  FitTics(axis);
}

void FitLinear(const Range& range, Axis* axis) {
  const double margin = std::max(0.04 * (range.high - range.low), 1e-3 * std::abs(range.high));
  axis->low = (range.low - margin) / axis->unit;
  axis->high = (range.high + margin) / axis->unit;
  if (axis->low == axis->high) axis->high = axis->low + 1;
}

// Names closer than this part of the axis would overlap.
constexpr double kRoomOfAName = 0.12;
// An axis of up to this many powers of ten has tics at 1, 2 and 5; a longer one, only at 1.
constexpr double kFineDecades = 2.5;

void WithMargin(double low, double high, Axis* axis) {
  const double margin = std::max(std::pow(high / low, 0.05), 1.1);
  axis->logarithmic = true;
  axis->low = low / margin;
  axis->high = high * margin;
}

// Returns 0 for the low end of an axis, 1 for its high end.
double PlaceOf(double value, const Axis& axis) {
  if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
  return std::log(value / axis.low) / std::log(axis.high / axis.low);
}

// An axis is longer than its highest bar by this factor.
constexpr double kRoomForNotes = 1.12;

// Returns an axis from 0, or from below 0 if the range begins there.
Axis AxisOf(Horizontal quantity, const Range& range) {
  const double greatest = range.empty() ? 0 : range.high;
  Axis axis;
  switch (quantity) {
    case Horizontal::kEpoch:
      axis.label = "epoch";
      break;
    case Horizontal::kBytes:
      axis.label = "bytes sent by all nodes";
      UseUnit(UnitOfBytes(greatest), &axis);
      break;
    case Horizontal::kTime:
      axis.label = "time";
      UseUnit(UnitOfSeconds(greatest), &axis);
      break;
  }
  axis.low = std::min(0.0, range.empty() ? 0 : range.low) / axis.unit;
  axis.high = greatest > 0 ? greatest / axis.unit : axis.low + 1;
  return axis;
}

}  // namespace

Axis AxisOf(Horizontal x, std::span<const Band> curves) {
  return AxisOf(x, HorizontalRange(curves));
}

Axis UpwardsAxisOf(Horizontal y, std::span<const Band> curves) {
  Axis axis = AxisOf(y, VerticalRange(curves, /*positive=*/false));
  axis.high = axis.low + kRoomForNotes * (axis.high - axis.low);
  return axis;
}

Axis AxisOfBars(std::string label, const std::vector<std::string>& names) {
  Axis axis;
  axis.label = std::move(label);
  for (size_t i = 0; i < names.size(); ++i) {
    axis.named_tics.emplace_back(names[i], static_cast<double>(i));
  }
  axis.low = -0.5;
  axis.high = static_cast<double>(names.size()) - 0.5;
  return axis;
}

std::string NameOf(const Axis& axis) {
  return axis.unit_of_names.empty() ? axis.label
                                    : absl::StrCat(axis.label, " (", axis.unit_of_names, ")");
}

void Limit(double low, double high, Axis* axis) {
  axis->low = low;
  axis->high = high;
  axis->tics.clear();
  if (axis->logarithmic) FitTics(axis);
}

Axis AxisOf(Vertical y, std::span<const Band> curves, bool logarithmic) {
  Axis axis;
  axis.logarithmic = logarithmic;
  if (logarithmic) axis.low = 0.1;
  switch (y) {
    case Vertical::kTrainLoss:
      axis.label = "training loss";
      break;
    case Vertical::kTestLoss:
      axis.label = "test loss";
      break;
    case Vertical::kTestAccuracy:
      axis.label = "test accuracy (%)";
      axis.unit = 0.01;
      break;
    case Vertical::kConsensusDistance:
      axis.label = "consensus distance";
      axis.logarithmic = true;
      axis.low = 0.1;
      break;
  }
  const Range range = VerticalRange(curves, axis.logarithmic);
  if (range.empty()) return axis;
  axis.logarithmic ? FitLogarithmic(range, &axis) : FitLinear(range, &axis);
  return axis;
}

std::string PlainNumber(double value) { return absl::StrCat(value); }

Axis AxisOfValues(std::string label, const std::set<double>& values,
                  const std::function<std::string(double)>& name) {
  Axis axis;
  axis.label = std::move(label);
  if (*values.begin() > 0) {
    WithMargin(*values.begin(), *values.rbegin(), &axis);
  } else {
    FitLinear({*values.begin(), *values.rbegin()}, &axis);
  }
  double last = -std::numeric_limits<double>::infinity();
  for (const double value : values) {
    const double place = PlaceOf(value, axis);
    if (place - last < kRoomOfAName) continue;
    axis.named_tics.emplace_back(name(value), value);
    last = place;
  }
  return axis;
}

Axis AxisOfAmounts(std::string label, std::span<const Band> curves) {
  Axis axis;
  axis.label = std::move(label);
  axis.logarithmic = true;
  axis.low = 0.1;
  const Range range = VerticalRange(curves, /*positive=*/true);
  if (!range.empty()) FitLogarithmic(range, &axis);
  return axis;
}

Axis AxisOfPercent(std::string label, std::span<const Band> curves) {
  Axis axis;
  axis.label = std::move(label) + " (%)";
  const Range range = VerticalRange(curves, /*positive=*/false);
  axis.high = range.empty() ? 100 : kRoomForNotes * range.high;
  if (axis.high <= 0) axis.high = 100;
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
  axis.unit_of_names = "s";
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
