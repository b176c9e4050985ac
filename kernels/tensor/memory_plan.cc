#include "kernels/tensor/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace grapevine {

int ArenaPlan::Add(int64_t bytes) {
  regions_.push_back({.bytes = (bytes + alignment_ - 1) / alignment_ * alignment_});
  return static_cast<int>(regions_.size()) - 1;
}

void ArenaPlan::Touch(int region, int time) {
  Region& r = regions_[region];
  if (r.last < r.first) r.first = r.last = time;
  r.first = std::min(r.first, time);
  r.last = std::max(r.last, time);
}

void ArenaPlan::Solve() {
  std::vector<int> order(regions_.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return regions_[a].bytes > regions_[b].bytes; });
  std::vector<const Region*> placed;  // ascending offset
  for (int index : order) {
    Region& region = regions_[index];
    if (region.bytes == 0 || region.last < region.first) continue;
    region.offset = LowestOffset(region, placed);
    bytes_ = std::max(bytes_, region.offset + region.bytes);
    const auto after =
        std::upper_bound(placed.begin(), placed.end(), &region,
                         [](const Region* a, const Region* b) { return a->offset < b->offset; });
    placed.insert(after, &region);
  }
}

// Returns the lowest offset at which `region` fits between the placed regions that are alive at the
// same time.
int64_t ArenaPlan::LowestOffset(const Region& region,
                                const std::vector<const Region*>& placed) const {
  int64_t offset = 0;
  for (const Region* other : placed) {
    if (other->last < region.first || region.last < other->first) continue;
    if (other->offset - offset >= region.bytes) break;
    offset = std::max(offset, other->offset + other->bytes);
  }
  return offset;
}

}  // namespace grapevine
