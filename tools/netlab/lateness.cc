#include "tools/netlab/lateness.h"

#include <algorithm>

namespace grapevine::netlab {

void Lateness::Add(int64_t nanoseconds) {
  const auto bucket = static_cast<size_t>(std::max<int64_t>(nanoseconds, 0) / kBucketNs);
  ++buckets_[std::min(bucket, kBuckets - 1)];
  ++count_;
}

int64_t Lateness::Quantile(double share) const {
  if (count_ == 0) return 0;
  const double wanted = share * static_cast<double>(count_);
  int64_t seen = 0;
  for (size_t bucket = 0; bucket < kBuckets; ++bucket) {
    seen += buckets_[bucket];
    if (static_cast<double>(seen) >= wanted) return static_cast<int64_t>(bucket + 1) * kBucketNs;
  }
  return static_cast<int64_t>(kBuckets) * kBucketNs;
}

}  // namespace grapevine::netlab
