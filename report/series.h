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

// Epochs, bytes and seconds; nats, fractions, and the norm of weights.
struct Point {
  double x;
  double y;
};

// Of one line of metrics, if it was measured then.
std::optional<double> ValueOf(const RunMetrics& metrics, Horizontal x);

// The points at which both values were measured, ascending in x. A consensus distance below the
// last bit of a single weight is a mean's rounding error, and counts as 0.
std::vector<Point> SeriesOf(std::span<const RunMetrics> metrics, Horizontal x, Vertical y);

struct BandPoint {
  double x;
  double low, mean, high;
};

using Band = std::vector<BandPoint>;

// Mean, minimum and maximum, at every x of any series, over those that cover it, with straight
// lines between points; each series is drawn to its end. A single series is its own mean.
Band BandOf(std::span<const std::vector<Point>> series);

// Each value is the mean of `points` around it, of which one more comes after it than before it if
// they are even. Near the ends there are as few on either side as there are on one, so that curves
// do not lag behind, and the first and the last are as they were.
Band Smoothed(const Band& band, size_t points);

// At most about `points` points: means of equally long stretches, with the minimum and maximum of
// each. The last point is kept as it is.
Band Thin(const Band& band, size_t points);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SERIES_H_
