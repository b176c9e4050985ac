// Merging the means of two groups of vectors (Chan, Golub and LeVeque 1983).
//
// With group sizes a and b and means x and y, the merged mean is x + (b/(a+b)) (y - x), and the
// sum of squared distances to the mean grows by (a b/(a+b)) |y - x|^2. This gives the averaged
// model and the consensus distance in one pass up a tree, without cancellation.
#ifndef GRAPEVINE_KERNELS_PASSES_MERGE_MEANS_H_
#define GRAPEVINE_KERNELS_PASSES_MERGE_MEANS_H_

#include <cstdint>

namespace grapevine {

// Growth of the sum of squared distances, over the first `counted` elements and over the rest.
struct MergedDistances {
  double counted = 0;
  double rest = 0;
};

// Merges `other`, the mean of `other_vectors` vectors, into `mean`, the mean of `vectors` vectors;
// both have `size` elements. Returns by how much the sum of squared distances to the mean grows,
// over the first `counted` elements and over the others. The order of summation is fixed.
MergedDistances MergeMeans(const float* other, double other_vectors, double vectors, int64_t size,
                           int64_t counted, float* mean);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_MERGE_MEANS_H_
