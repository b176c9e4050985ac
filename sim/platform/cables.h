// The links of a network as cables, each with two directions.
#ifndef GRAPEVINE_SIM_PLATFORM_CABLES_H_
#define GRAPEVINE_SIM_PLATFORM_CABLES_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/platform/link.h"

namespace grapevine {

// Counted from 0, in the order of Add.
using CableId = uint32_t;

// Thread-compatible.
class Cables {
 public:
  // Half duplex: the directions of each cable share its capacity, as one link.
  explicit Cables(bool half_duplex) : half_duplex_(half_duplex) {}

  void Reserve(size_t cables) { links_.reserve(half_duplex_ ? cables : 2 * cables); }
  void Add(double capacity, Nanoseconds forth, Nanoseconds back) {
    links_.push_back({.capacity = capacity, .latency = forth});
    if (!half_duplex_) links_.push_back({.capacity = capacity, .latency = back});
  }
  // Half of `latency` in each direction: forth over one cable and back over
  // another take it whole (in half duplex but for a nanosecond).
  void AddHalf(double capacity, Nanoseconds latency) {
    Add(capacity, latency / 2, latency - latency / 2);
  }

  LinkId Forth(CableId cable) const { return half_duplex_ ? cable : 2 * cable; }
  LinkId Back(CableId cable) const { return half_duplex_ ? cable : 2 * cable + 1; }
  CableId CableOf(LinkId link) const { return half_duplex_ ? link : link / 2; }
  bool IsBack(LinkId link) const { return !half_duplex_ && link % 2 == 1; }
  bool half_duplex() const { return half_duplex_; }
  std::span<const Link> links() const { return links_; }

 private:
  const bool half_duplex_;
  std::vector<Link> links_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_CABLES_H_
