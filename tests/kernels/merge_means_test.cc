#include "kernels/passes/merge_means.h"

#include <gtest/gtest.h>

#include <vector>

namespace grapevine {
namespace {

TEST(MergeMeans, MergesAndMeasuresTheCountedElementsApart) {
  for (const int64_t size : {0, 1, 15, 16, 17, 100}) {
    std::vector<float> mean(size), other(size), expected(size);
    double distance = 0, of_rest = 0;
    const int64_t counted = size * 2 / 3;
    for (int64_t i = 0; i < size; ++i) {
      mean[i] = static_cast<float>(i);
      other[i] = static_cast<float>(3 * i + 1);
      expected[i] = mean[i] + 0.25f * (other[i] - mean[i]);
      (i < counted ? distance : of_rest) += (2.0 * i + 1) * (2.0 * i + 1);
    }
    const MergedDistances merged =
        MergeMeans(other.data(), /*other_vectors=*/1, /*vectors=*/3, size, counted, mean.data());
    EXPECT_DOUBLE_EQ(merged.counted, 0.75 * distance) << size;
    EXPECT_DOUBLE_EQ(merged.rest, 0.75 * of_rest) << size;
    EXPECT_EQ(mean, expected) << size;
  }
}

}  // namespace
}  // namespace grapevine
