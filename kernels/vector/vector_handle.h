// Handles to vectors, and the step request over handles. This is all that algorithms know about
// vectors; their memory, device and size are known only to the driver.
//
// VectorTable resolves handles on the CPU. Values; thread-safe.
#ifndef GRAPEVINE_KERNELS_VECTOR_VECTOR_HANDLE_H_
#define GRAPEVINE_KERNELS_VECTOR_VECTOR_HANDLE_H_

#include <cstdint>
#include <span>

namespace grapevine {

// A handle to a vector. An id of 0 means no vector.
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

// Elements [offset, offset + size) of the replica: the whole replica, or the part that a parameter
// server keeps.
struct ReplicaRange {
  int64_t offset = 0;
  int64_t size = 0;
};

// A term of a sum: weight * part.
struct Term {
  double weight;
  Part part;
};

// A request for a fused mix and local step. An algorithm fills it in, the driver and its data
// path pass it on, and an optimizer carries it out (optim/optimizer.h):
//
// out <- sum(mix) - learning_rate * update(own, gradient_scale * gradient, state, step).
//
// All vectors hold exactly `range` of a replica, except `state`, which was made for that range.
// `out` may be `own`, a term or the gradient.
struct StepRequest {
  ReplicaRange range;
  Vec out;
  // The terms of the mixture, summed in this order. The caller owns the memory.
  std::span<const Term> mix;
  // The point at which weight decay is evaluated: the node's own replica.
  Vec own;
  Vec gradient;
  Vec state;
  // The number of steps that the state has taken before; Adam's bias corrections depend on it.
  int64_t step = 0;
  double learning_rate = 0;
  // The factor by which the gradient is multiplied first, parameters and buffers alike (1/n after a
  // sum over n nodes).
  double gradient_scale = 1;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_VECTOR_HANDLE_H_
