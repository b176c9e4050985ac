// Divides a region of memory into aligned pieces.
#ifndef GRAPEVINE_KERNELS_TENSOR_REGION_PLAN_H_
#define GRAPEVINE_KERNELS_TENSOR_REGION_PLAN_H_

#include <cstdint>

namespace grapevine {

// Hands out pieces of a region whose size is their sum. Thread-compatible.
class RegionPlan {
 public:
  // Pieces begin at multiples of `alignment` bytes, as the region does.
  explicit RegionPlan(int64_t alignment = 64) : alignment_(alignment) {}

  // The offset of a new piece.
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

#endif  // GRAPEVINE_KERNELS_TENSOR_REGION_PLAN_H_
