// Plans of memory that is laid out once: a step's regions in one arena, and consecutive pieces of a
// region.
#ifndef GRAPEVINE_KERNELS_TENSOR_MEMORY_PLAN_H_
#define GRAPEVINE_KERNELS_TENSOR_MEMORY_PLAN_H_

#include <cstdint>
#include <vector>

namespace grapevine {

// Packs regions with known lifetimes into one arena. A training step is a fixed list of calls,
// so that the first and the last call that uses a tensor are known in advance. Regions whose
// lifetimes do not overlap share memory. Greedy by size (Pisarchyk and Lee 2020, "Greedy by
// Size for Offset Calculation"). Thread-compatible.
class ArenaPlan {
 public:
  // Offsets are multiples of `alignment` bytes.
  explicit ArenaPlan(int64_t alignment) : alignment_(alignment) {}

  // Adds a region of `bytes` with an empty lifetime. Returns its index.
  int Add(int64_t bytes);
  // Notes that the region is read or written at `time`; extends its lifetime to include `time`.
  void Touch(int region, int time);

  // Chooses the offsets of all regions.
  void Solve();
  int64_t offset(int region) const { return regions_[region].offset; }
  // Returns the bytes of the whole arena.
  int64_t bytes() const { return bytes_; }

 private:
  struct Region {
    int64_t bytes = 0;
    int first = 0;
    int last = -1;  // less than `first` if the region was never touched
    int64_t offset = 0;
  };
  int64_t LowestOffset(const Region& region, const std::vector<const Region*>& placed) const;

  const int64_t alignment_;
  std::vector<Region> regions_;
  int64_t bytes_ = 0;
};

// Allocates consecutive pieces of a region whose size is their sum. Thread-compatible.
class RegionPlan {
 public:
  // Pieces begin at multiples of `alignment` bytes; so must the region.
  explicit RegionPlan(int64_t alignment = 64) : alignment_(alignment) {}

  // Adds a piece of `bytes`; returns its offset in the region.
  int64_t Reserve(int64_t bytes) {
    const int64_t offset = bytes_;
    bytes_ += (bytes + alignment_ - 1) / alignment_ * alignment_;
    return offset;
  }
  int64_t bytes() const { return bytes_; }

 private:
  const int64_t alignment_;
  int64_t bytes_ = 0;
};

inline char* At(void* region, int64_t offset) { return static_cast<char*>(region) + offset; }

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_MEMORY_PLAN_H_
