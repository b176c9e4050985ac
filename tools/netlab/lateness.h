// How much later than planned frames were handed on.
//
// Thread-compatible.
#ifndef GRAPEVINE_TOOLS_NETLAB_LATENESS_H_
#define GRAPEVINE_TOOLS_NETLAB_LATENESS_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace grapevine::netlab {

class Lateness {
 public:
  void Add(int64_t nanoseconds);
  // The smallest lateness that `share` of the frames kept, rounded up to
  // kBucketNs; 0 without frames. The last bucket holds all that were later.
  int64_t Quantile(double share) const;
  int64_t count() const { return count_; }
  void Clear() { *this = Lateness(); }

 private:
  static constexpr int64_t kBucketNs = 5'000;
  static constexpr size_t kBuckets = 4'000;

  std::array<int64_t, kBuckets> buckets_{};
  int64_t count_ = 0;
};

}  // namespace grapevine::netlab

#endif  // GRAPEVINE_TOOLS_NETLAB_LATENESS_H_
