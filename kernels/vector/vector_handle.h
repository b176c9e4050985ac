// Handles to vectors whose memory, device and size are a driver's affair.
//
// Algorithms speak in handles; VectorTable resolves them on the CPU.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_HANDLE_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_HANDLE_H_

#include <cstdint>

namespace grapevine {

// 0 is no vector.
struct Vec {
  uint32_t id = 0;

  explicit operator bool() const { return id != 0; }
  friend bool operator==(Vec, Vec) = default;
};

// A range of a vector, in elements: a chunk of an allreduce, a bucket, a shard.
struct Part {
  Vec vector;
  int64_t offset = 0;
  int64_t size = 0;
};

// Elements [offset, offset + size) of the replica: all of it, or the part that a
// parameter server keeps.
struct ReplicaRange {
  int64_t offset = 0;
  int64_t size = 0;
};

// weight * part, a term of a sum.
struct Term {
  double weight;
  Part part;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_HANDLE_H_
