// How long a tensor of a network is, and its gradient: their ratio is what LARS and LAMB make of
// the learning rate of each (You et al., arXiv:1708.03888, section 4).
//
// Thread-safety: values.
#ifndef GRAPEVINE_BASE_TENSOR_NORMS_H_
#define GRAPEVINE_BASE_TENSOR_NORMS_H_

#include <cstdint>
#include <string>

namespace grapevine {

struct TensorNorms {
  std::string tensor;      // its name in the replica: "conv1.weight"
  int64_t dimensions = 0;  // of its shape; LARS and LAMB leave alone what has one
  double weights = 0;      // Euclidean norms
  double gradient = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_TENSOR_NORMS_H_
