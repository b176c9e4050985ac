// How stale the gradients of a node were: what Host::GradientApplied tells a driver.
#ifndef GRAPEVINE_ALGORITHM_STALENESS_H_
#define GRAPEVINE_ALGORITHM_STALENESS_H_

#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace grapevine {

// Thread-compatible; a value.
class Staleness {
 public:
  // Bucket b > 0 counts 2^(b-1) to 2^b - 1, bucket 0 those without any: with a thousand workers,
  // a gradient is hundreds of updates old.
  static constexpr size_t kBuckets = 64;
  using Buckets = std::array<int64_t, kBuckets>;

  // CHECKs that `staleness` is not negative.
  void Add(int64_t staleness) {
    CHECK_GE(staleness, 0);
    ++gradients_;
    sum_ += static_cast<double>(staleness);
    greatest_ = std::max(greatest_, staleness);
    ++buckets_[std::bit_width(static_cast<uint64_t>(staleness))];
  }

  int64_t gradients() const { return gradients_; }
  // 0 where there is no gradient.
  double mean() const { return gradients_ == 0 ? 0 : sum_ / static_cast<double>(gradients_); }
  int64_t greatest() const { return greatest_; }
  const Buckets& buckets() const { return buckets_; }

 private:
  int64_t gradients_ = 0;
  double sum_ = 0;
  int64_t greatest_ = 0;
  Buckets buckets_ = {};
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_STALENESS_H_
