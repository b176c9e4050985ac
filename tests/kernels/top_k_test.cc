#include "kernels/codec/top_k.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/passes/denormals.h"
#include "tests/kernels/bits.h"
#include "tests/kernels/noise.h"

namespace grapevine {
namespace {

// All indices, as they would be taken.
std::vector<uint32_t> Sorted(const std::vector<float>& vector) {
  std::vector<uint32_t> order(vector.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return (Bits(vector[a]) & 0x7fffffff) > (Bits(vector[b]) & 0x7fffffff);
  });
  return order;
}

std::vector<uint32_t> Expected(std::vector<uint32_t> sorted, int64_t k) {
  sorted.resize(static_cast<size_t>(k));
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

std::vector<uint32_t> Indices(const std::vector<float>& vector, int64_t k) {
  std::vector<uint32_t> indices(static_cast<size_t>(k) + 1, 0xffffffff);
  std::vector<float> values(static_cast<size_t>(k) + 1, 42);
  TopK(vector.data(), static_cast<int64_t>(vector.size()), k, indices.data(), values.data());
  EXPECT_EQ(indices.back(), 0xffffffff);
  EXPECT_EQ(values.back(), 42);
  indices.pop_back();
  for (size_t j = 0; j < indices.size(); ++j) {
    EXPECT_EQ(Bits(values[j]), Bits(vector[indices[j]])) << j;
  }
  return indices;
}

TEST(TopKTest, TakesTheLargest) {
  for (int64_t size : {0, 1, 3, 255, 256, 257, 4096, 4097, 1'000'003}) {
    const std::vector<float> vector = Noise(size);
    const std::vector<uint32_t> sorted = Sorted(vector);
    for (int64_t k : {int64_t{0}, int64_t{1}, size / 100, size - 1, size}) {
      if (k < 0 || k > size) continue;
      EXPECT_EQ(Indices(vector, k), Expected(sorted, k)) << k << " of " << size;
    }
  }
}

TEST(TopKTest, OfEqualOnesTakesThoseWithLowIndices) {
  std::vector<float> vector(10'000, 1.0f);
  for (size_t i = 1; i < vector.size(); i += 2) vector[i] = -1;
  vector[7000] = 2;
  for (int64_t k : {1, 2, 100, 9999})
    EXPECT_EQ(Indices(vector, k), Expected(Sorted(vector), k)) << k;
  EXPECT_EQ(Indices(vector, 3), (std::vector<uint32_t>{0, 1, 7000}));
  EXPECT_EQ(Indices(std::vector<float>(5, 0.0f), 2), (std::vector<uint32_t>{0, 1}));
}

// Keys that differ in one digit only, so that every round decides once.
TEST(TopKTest, TellsNeighboursApart) {
  for (uint32_t step : {1u, 1u << 8, 1u << 9, 1u << 19, 1u << 20}) {
    std::vector<float> vector;
    for (uint32_t j = 0; j < 300; ++j) {
      vector.push_back(std::bit_cast<float>(0x3f800000 + step * (j * 7919 % 300)));
    }
    for (int64_t k : {1, 150, 299})
      EXPECT_EQ(Indices(vector, k), Expected(Sorted(vector), k)) << step;
  }
}

TEST(TopKTest, NotANumberIsLargestAndZerosAreEqual) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> vector = {-0.0f, 0.0f, tiny, -INFINITY, 3, NAN, -tiny, INFINITY};
  EXPECT_EQ(Indices(vector, 1), (std::vector<uint32_t>{5}));
  EXPECT_EQ(Indices(vector, 3), (std::vector<uint32_t>{3, 5, 7}));
  EXPECT_EQ(Indices(vector, 7), (std::vector<uint32_t>{0, 2, 3, 4, 5, 6, 7}));
  const FlushDenormals flush;
  EXPECT_EQ(Indices(vector, 6), (std::vector<uint32_t>{2, 3, 4, 5, 6, 7}));
}

TEST(TopKDeathTest, RefusesMoreThanThereAre) {
  EXPECT_DEATH(TopK(nullptr, 3, 4, nullptr, nullptr), "4 of 3");
}

}  // namespace
}  // namespace grapevine
