#include "report/series.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

namespace grapevine {
namespace {

// Nodes agree below this distance: a node whose weight of 1e-3 differs in its last bit is 1e-20
// away.
constexpr double kAgreement = 1e-24;

std::optional<double> ValueOf(const RunMetrics& metrics, Vertical y) {
  switch (y) {
    case Vertical::kTrainLoss:
      return metrics.train_loss;
    case Vertical::kTestLoss:
      return metrics.test_loss;
    case Vertical::kTestAccuracy:
      return metrics.test_accuracy;
    case Vertical::kConsensusDistance:
      if (!metrics.consensus_distance || *metrics.consensus_distance >= kAgreement) {
        return metrics.consensus_distance;
      }
      return 0;
  }
  return std::nullopt;
}

bool IsLeft(const Point& a, const Point& b) { return a.x < b.x; }

// Returns the value at x, which the series must cover.
double At(const std::vector<Point>& series, double x) {
  const auto right = std::lower_bound(series.begin(), series.end(), Point{x, 0}, IsLeft);
  if (right->x == x || right == series.begin()) return right->y;
  const auto left = right - 1;
  return left->y + (right->y - left->y) * ((x - left->x) / (right->x - left->x));
}

bool Covers(const std::vector<Point>& series, double x) {
  return !series.empty() && series.front().x <= x && x <= series.back().x;
}

BandPoint BandAt(std::span<const std::vector<Point>> all, double x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  BandPoint point{x, kInfinity, 0, -kInfinity};
  int covering = 0;
  for (const std::vector<Point>& series : all) {
    if (!Covers(series, x)) continue;
    const double y = At(series, x);
    point.low = std::min(point.low, y);
    point.high = std::max(point.high, y);
    point.mean += y;
    ++covering;
  }
  point.mean /= covering;
  return point;
}

BandPoint Merge(std::span<const BandPoint> stretch) {
  BandPoint merged{0, stretch[0].low, 0, stretch[0].high};
  for (const BandPoint& point : stretch) {
    merged.x += point.x / static_cast<double>(stretch.size());
    merged.mean += point.mean / static_cast<double>(stretch.size());
    merged.low = std::min(merged.low, point.low);
    merged.high = std::max(merged.high, point.high);
  }
  return merged;
}

}  // namespace

std::optional<double> ValueOf(const RunMetrics& metrics, Horizontal x) {
  switch (x) {
    case Horizontal::kEpoch:
      return metrics.epoch;
    case Horizontal::kBytes:
      return metrics.bytes_sent_total;
    case Horizontal::kTime:
      return metrics.time_s;
  }
  return std::nullopt;
}

std::vector<Point> SeriesOf(std::span<const RunMetrics> metrics, Horizontal x, Vertical y) {
  std::vector<Point> series;
  for (const RunMetrics& measured : metrics) {
    const std::optional<double> right = ValueOf(measured, x);
    const std::optional<double> up = ValueOf(measured, y);
    if (right && up) series.push_back({*right, *up});
  }
  std::stable_sort(series.begin(), series.end(), IsLeft);
  return series;
}

Band BandOf(std::span<const std::vector<Point>> series) {
  std::set<double> positions;
  for (const std::vector<Point>& one : series) {
    for (const Point& point : one) positions.insert(point.x);
  }
  Band band;
  for (const double x : positions) band.push_back(BandAt(series, x));
  return band;
}

Band Smoothed(const Band& band, size_t points) {
  Band smoothed;
  for (size_t i = 0; i < band.size(); ++i) {
    const size_t room = std::min(i, band.size() - 1 - i);
    const size_t first = i - std::min(room, (points - 1) / 2);
    const size_t last = i + std::min(room, points / 2);
    const auto count = static_cast<double>(last - first + 1);
    BandPoint mean{band[i].x, 0, 0, 0};
    for (size_t k = first; k <= last; ++k) {
      mean.low += band[k].low / count;
      mean.mean += band[k].mean / count;
      mean.high += band[k].high / count;
    }
    smoothed.push_back(mean);
  }
  return smoothed;
}

Band Thin(const Band& band, size_t points) {
  if (band.size() <= points || points == 0) return band;
  const size_t stretch = (band.size() + points - 1) / points;
  const std::span<const BandPoint> all(band);
  Band thin;
  for (size_t begin = 0; begin + 1 < all.size(); begin += stretch) {
    thin.push_back(Merge(all.subspan(begin, std::min(stretch, all.size() - 1 - begin))));
  }
  thin.push_back(band.back());
  return thin;
}

}  // namespace grapevine
