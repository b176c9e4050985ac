// Quantiles of any number of durations in little memory.
//
// Durations below 1024 ns have a bucket each; above, each power of two is cut into
// 512 buckets, so that a quantile is within 0.1 % of a duration that occurred. In
// integers: the same durations give the same quantiles in any order, on every
// machine.
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_RUN_RECORDS_DURATION_HISTOGRAM_H_
#define GRAPEVINE_RUN_RECORDS_DURATION_HISTOGRAM_H_

#include <cstdint>
#include <vector>

namespace grapevine {

class DurationHistogram {
 public:
  // Nanoseconds; less than 0 counts as 0.
  void Add(int64_t nanoseconds);
  void Merge(const DurationHistogram& other);

  int64_t count() const { return count_; }
  // Exact; 0 when there are none.
  int64_t min() const { return count_ > 0 ? min_ : 0; }
  int64_t max() const { return max_; }
  double mean() const { return count_ > 0 ? sum_ / static_cast<double>(count_) : 0; }
  // The smallest duration that at least a part q of all do not exceed, q in [0, 1];
  // exact for q = 0 and 1. 0 when there are none.
  int64_t Quantile(double q) const;

 private:
  std::vector<int64_t> buckets_;  // as many as were needed
  int64_t count_ = 0;
  int64_t min_ = 0;
  int64_t max_ = 0;
  double sum_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_DURATION_HISTOGRAM_H_
