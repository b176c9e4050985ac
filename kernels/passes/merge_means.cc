#include "kernels/passes/merge_means.h"

namespace grapevine {
namespace {

constexpr int kLanes = 16;

// Merges a block of up to kLanes elements. lanes[i] adds up the squared differences of lane i.
inline void MergeBlock(const float* other, float share, int size, float* mean, double* lanes) {
  for (int i = 0; i < size; ++i) {
    const float difference = other[i] - mean[i];
    lanes[i] += static_cast<double>(difference) * difference;
    mean[i] += share * difference;
  }
}

double Merge(const float* other, float share, int64_t size, float* mean) {
  double lanes[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) MergeBlock(other + i, share, kLanes, mean + i, lanes);
  MergeBlock(other + i, share, static_cast<int>(size - i), mean + i, lanes);
  double sum = 0;
  for (double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

MergedDistances MergeMeans(const float* other, double other_vectors, double vectors, int64_t size,
                           int64_t counted, float* mean) {
  const double share = other_vectors / (vectors + other_vectors);
  const auto step = static_cast<float>(share);
  return {.counted = vectors * share * Merge(other, step, counted, mean),
          .rest = vectors * share * Merge(other + counted, step, size - counted, mean + counted)};
}

}  // namespace grapevine
