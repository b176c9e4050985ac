#include "run/records/duration_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace grapevine {
namespace {

constexpr int kBits = 9;  // 2^9 buckets for each power of two
constexpr int64_t kPerOctave = int64_t{1} << kBits;

// Bucket e * 512 + m with m in [512, 1024) holds the durations whose leading ten
// bits are m: [m << e, (m + 1) << e). For e = 0 these are single durations, and so
// are those below 512.
size_t BucketOf(int64_t duration) {
  const int width = static_cast<int>(std::bit_width(static_cast<uint64_t>(duration)));
  const int shift = std::max(0, width - (kBits + 1));
  return static_cast<size_t>(shift * kPerOctave + (duration >> shift));
}

int64_t MiddleOf(size_t bucket) {
  const int64_t index = static_cast<int64_t>(bucket);
  const int64_t shift = std::max<int64_t>(0, index / kPerOctave - 1);
  const int64_t low = (index - shift * kPerOctave) << shift;
  return low + ((int64_t{1} << shift) - 1) / 2;
}

}  // namespace

void DurationHistogram::Add(int64_t nanoseconds) {
  const int64_t duration = std::max<int64_t>(0, nanoseconds);
  const size_t bucket = BucketOf(duration);
  if (bucket >= buckets_.size()) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  min_ = count_ > 0 ? std::min(min_, duration) : duration;
  max_ = std::max(max_, duration);
  sum_ += static_cast<double>(duration);
  ++count_;
}

void DurationHistogram::Merge(const DurationHistogram& other) {
  if (other.count_ == 0) return;
  if (other.buckets_.size() > buckets_.size()) buckets_.resize(other.buckets_.size());
  for (size_t i = 0; i < other.buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  min_ = count_ > 0 ? std::min(min_, other.min_) : other.min_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
  count_ += other.count_;
}

int64_t DurationHistogram::Quantile(double q) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<int64_t>(std::ceil(q * static_cast<double>(count_)));
  if (rank <= 1) return min_;
  if (rank >= count_) return max_;
  int64_t below = 0;
  size_t bucket = 0;
  while (true) {
    below += buckets_[bucket];
    if (below >= rank) return std::clamp(MiddleOf(bucket), min_, max_);
    ++bucket;
  }
}

}  // namespace grapevine
