#include "kernels/merge_means.h"

#include <gtest/gtest.h>

#include <vector>

namespace grapevine {
namespace {

TEST(MergeMeans, MergesAndMeasuresTheCountedElementsOnly) {
  for (const int64_t size : {0, 1, 15, 16, 17, 100}) {
    std::vector<float> mean(size), other(size), expected(size);
    double distance = 0;
    const int64_t counted = size * 2 / 3;
    for (int64_t i = 0; i < size; ++i) {
      mean[i] = static_cast<float>(i);
      other[i] = static_cast<float>(3 * i + 1);
      expected[i] = mean[i] + 0.25f * (other[i] - mean[i]);
      if (i < counted) distance += (2.0 * i + 1) * (2.0 * i + 1);
    }
    EXPECT_DOUBLE_EQ(MergeMeans(other.data(), 0.25, size, counted, mean.data()), distance) << size;
    EXPECT_EQ(mean, expected) << size;
  }
}

}  // namespace
}  // namespace grapevine
