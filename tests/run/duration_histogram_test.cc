#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

#include "random/keyed_random.h"
#include "run/records/statistics.h"

namespace grapevine {
namespace {

constexpr double kQuantiles[] = {0, 0.01, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1};

int64_t Exact(const std::vector<int64_t>& ascending, double q) {
  const auto rank = static_cast<int64_t>(std::ceil(q * static_cast<double>(ascending.size())));
  return ascending[static_cast<size_t>(std::max<int64_t>(rank, 1) - 1)];
}

TEST(DurationHistogram, IsEmptyAtFirst) {
  const DurationHistogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.Quantile(0.5), 0);
}

TEST(DurationHistogram, SmallDurationsAreExact) {
  DurationHistogram histogram;
  for (int64_t duration = 1023; duration >= 0; --duration) histogram.Add(duration);
  EXPECT_EQ(histogram.count(), 1024);
  EXPECT_EQ(histogram.mean(), 511.5);
  for (double q : kQuantiles) {
    EXPECT_EQ(histogram.Quantile(q), std::max<int64_t>(0, std::ceil(q * 1024) - 1)) << q;
  }
}

TEST(DurationHistogram, QuantilesAreWithinATenthOfAPercent) {
  std::printf("seed 6\n");
  KeyedRandom random(6, Purpose::kComputeTime);
  DurationHistogram histogram;
  std::vector<int64_t> durations;
  for (int i = 0; i < 100'000; ++i) {
    // Eight decades.
    durations.push_back(static_cast<int64_t>(std::exp(18 * random.Unit())));
    histogram.Add(durations.back());
  }
  std::ranges::sort(durations);
  for (double q : kQuantiles) {
    const auto exact = static_cast<double>(Exact(durations, q));
    EXPECT_NEAR(static_cast<double>(histogram.Quantile(q)) / exact, 1, 0.001) << q;
  }
  EXPECT_EQ(histogram.min(), durations.front());
  EXPECT_EQ(histogram.max(), durations.back());
}

TEST(DurationHistogram, OneDurationIsItsQuantiles) {
  for (int64_t duration : {int64_t{1'234'567'891}, std::numeric_limits<int64_t>::max()}) {
    DurationHistogram histogram;
    for (int i = 0; i < 5; ++i) histogram.Add(duration);
    for (double q : kQuantiles) EXPECT_EQ(histogram.Quantile(q), duration);
  }
}

TEST(DurationHistogram, NegativeDurationsCountAsNone) {
  DurationHistogram histogram;
  histogram.Add(-5);
  EXPECT_EQ(histogram.min(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.count(), 1);
}

TEST(DurationHistogram, PartsMergeIntoTheWhole) {
  KeyedRandom random(7, Purpose::kComputeTime);
  DurationHistogram whole;
  DurationHistogram parts[3];
  for (int i = 0; i < 3000; ++i) {
    const auto duration = static_cast<int64_t>(random.Below(uint64_t{1} << (i % 40)));
    whole.Add(duration);
    parts[i % 2].Add(duration);  // and one stays empty
  }
  DurationHistogram merged;
  for (const DurationHistogram& part : parts) merged.Merge(part);
  EXPECT_EQ(merged.count(), whole.count());
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_DOUBLE_EQ(merged.mean(), whole.mean());
  for (double q : kQuantiles) EXPECT_EQ(merged.Quantile(q), whole.Quantile(q)) << q;
}

}  // namespace
}  // namespace grapevine
