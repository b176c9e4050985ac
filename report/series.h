// Measurements as curves: one quantity against another.
#ifndef GRAPEVINE_REPORT_SERIES_H_
#define GRAPEVINE_REPORT_SERIES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "run/records/metrics.h"

namespace grapevine {

enum class Horizontal { kEpoch, kBytes, kTime };
enum class Vertical { kTrainLoss, kTestLoss, kTestAccuracy, kConsensusDistance };

// A point of a curve: x in epochs, bytes or seconds; y in nats, as a fraction, or as a norm of
// weights.
struct Point {
  double x;
  double y;
};

// Returns a value of one line of metrics; absent if it was not measured then.
std::optional<double> ValueOf(const RunMetrics& metrics, Horizontal x);

// Returns the points at which both values were measured, ascending in x. A consensus distance below
// the last bit of a single weight is the rounding error of a mean, and counts as 0.
std::vector<Point> SeriesOf(std::span<const RunMetrics> metrics, Horizontal x, Vertical y);

struct BandPoint {
  double x;
  double low, mean, high;
};

using Band = std::vector<BandPoint>;

// Returns mean, minimum and maximum at every x of any series, over the series that cover this x,
// with straight lines between their points; each series is drawn to its end. A single series is its
// own mean.
Band BandOf(std::span<const std::vector<Point>> series);

// Returns the band with each value replaced by the mean of `points` values around it; if `points`
// is even, one more of these comes after the value than before it. Near the ends, the mean takes
// only as many values on either side as exist on the shorter one, so that curves do not lag behind;
// the first and the last value stay as they are.
Band Smoothed(const Band& band, size_t points);

// Returns at most about `points` points: means of equally long stretches, with the minimum and
// maximum of each stretch. The last point is kept as it is.
Band Thin(const Band& band, size_t points);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SERIES_H_
