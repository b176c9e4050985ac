// A term of a sum of vectors.
#ifndef GRAPEVINE_KERNELS_PASSES_WEIGHTED_VECTOR_H_
#define GRAPEVINE_KERNELS_PASSES_WEIGHTED_VECTOR_H_

namespace grapevine {

// weight * vector; the memory is the caller's.
struct WeightedVector {
  float weight;
  const float* vector;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_WEIGHTED_VECTOR_H_
