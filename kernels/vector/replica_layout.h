// The layout of a replica: one flat fp32 vector with a named view per tensor.
//
// Parameters come first; buffers (batch-norm running statistics) follow in a section of their own.
// Optimizers and the algorithms' formulas touch parameters only; buffers are averaged convexly.
#ifndef GRAPEVINE_KERNELS_VECTOR_REPLICA_LAYOUT_H_
#define GRAPEVINE_KERNELS_VECTOR_REPLICA_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/vector/vector_handle.h"

namespace grapevine {

struct TensorView {
  std::string name;            // PyTorch-like: "conv1.weight"
  std::vector<int64_t> shape;  // PyTorch's order: (out, in, kh, kw)
  int64_t offset = 0;          // elements from the start of the replica
  int64_t size = 0;            // elements
};

struct ReplicaLayout {
  std::vector<TensorView> parameters;
  std::vector<TensorView> buffers;
  int64_t parameter_size = 0;  // elements; buffers begin here
  int64_t size = 0;            // elements of parameters and buffers together
  // A local step moves a buffer v towards the batch's statistic b:
  // v <- (1 - buffer_momentum) v + buffer_momentum b. The gradient vector
  // carries b in its buffer section.
  float buffer_momentum = 0.1f;

  // Append a view. All parameters must be added before the first buffer.
  void AddParameter(std::string name, std::vector<int64_t> shape);
  void AddBuffer(std::string name, std::vector<int64_t> shape);

  // Returns the layout of a vector that holds only `range` of the replica. Views keep their names;
  // a view that the range cuts becomes flat.
  ReplicaLayout Within(ReplicaRange range) const;

  // Returns a fingerprint of names, shapes and sections, for the handshake.
  uint64_t Fingerprint() const;
};

// Returns the name of the first tensor, buffers last, that has a NaN or an infinity among its
// elements in `vector`, or an empty string if all elements are finite. Shows where a diverged run
// broke. `vector` has layout.size elements.
std::string FirstNonFinite(const ReplicaLayout& layout, const float* vector);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_VECTOR_REPLICA_LAYOUT_H_
