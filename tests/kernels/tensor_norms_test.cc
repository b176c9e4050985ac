#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/passes/ordered_sum.h"
#include "kernels/vector/norms.h"
#include "tests/kernels/noise.h"

namespace grapevine {
namespace {

// A layout with a tensor of each of these sizes.
ReplicaLayout LayoutOf(const std::vector<int64_t>& sizes) {
  ReplicaLayout layout;
  for (int64_t size : sizes) layout.AddParameter("tensor", {size});
  return layout;
}

std::vector<double> Norms(const std::vector<float>& vector, const ReplicaLayout& layout,
                          InstructionSet set = BestInstructionSet()) {
  std::vector<double> norms;
  for (const TensorView& tensor : layout.parameters) {
    norms.push_back(SquaredNorm(vector.data() + tensor.offset, tensor.size, set));
  }
  return norms;
}

const std::vector<int64_t> kSizes = {1,    3,    0,    255,       256, 257, 1, 4095,
                                     4096, 4097, 8192, 1'000'003, 0,   10,  64};

TEST(TensorNormsTest, AgreesWithThePlainSumOfEveryTensor) {
  const ReplicaLayout layout = LayoutOf(kSizes);
  const std::vector<float> vector = Noise(layout.size);
  const std::vector<double> norms = Norms(vector, layout);
  for (size_t t = 0; t < norms.size(); ++t) {
    long double expected = 0;
    for (int64_t i = 0; i < layout.parameters[t].size; ++i) {
      const long double x = vector[layout.parameters[t].offset + i];
      expected += x * x;
    }
    EXPECT_NEAR(norms[t], static_cast<double>(expected), 1e-13 * static_cast<double>(expected))
        << t;
  }
}

// What ordered_sum.h says, by indices alone.
double PlainOrder(const float* tensor, int64_t size) {
  std::vector<double> chunk_lanes(kChunkLanes, 0.0);
  for (int64_t chunk = 0; chunk * kSumChunk < size; ++chunk) {
    std::vector<double> lanes(kSumLanes, 0.0);
    for (int64_t i = chunk * kSumChunk; i < std::min(size, (chunk + 1) * kSumChunk); ++i) {
      lanes[i % kSumLanes] += static_cast<double>(tensor[i]) * tensor[i];
    }
    for (size_t half = kSumLanes / 2; half > 0; half /= 2) {
      for (size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    }
    chunk_lanes[chunk % kChunkLanes] += lanes[0];
  }
  for (size_t half = kChunkLanes / 2; half > 0; half /= 2) {
    for (size_t j = 0; j < half; ++j) chunk_lanes[j] += chunk_lanes[j + half];
  }
  return chunk_lanes[0];
}

TEST(TensorNormsTest, EveryInstructionSetSumsInTheSaidOrder) {
  // The last has more chunks than there are lanes of chunks.
  const ReplicaLayout layout =
      LayoutOf({1, 3, 255, 257, 4095, 4097, 20'000, kSumChunk * (kChunkLanes + 3) + 5});
  const std::vector<float> vector = Noise(layout.size);
  for (InstructionSet set : AvailableInstructionSets()) {
    const std::vector<double> norms = Norms(vector, layout, set);
    for (size_t t = 0; t < norms.size(); ++t) {
      const TensorView& tensor = layout.parameters[t];
      EXPECT_EQ(norms[t], PlainOrder(vector.data() + tensor.offset, tensor.size)) << t;
    }
  }
}

TEST(TensorNormsTest, CountsTheChunksOfTensors) {
  const ReplicaLayout layout = LayoutOf({4096, 1, 4096, 0, 10});
  const std::vector<TensorSpan> spans = TensorSpans(layout.parameters);
  ASSERT_EQ(spans.size(), 5u);
  const int64_t expected[] = {0, 1, 2, 3, 3};
  for (size_t t = 0; t < 5; ++t) EXPECT_EQ(spans[t].first_chunk, expected[t]) << t;
  EXPECT_EQ(TotalChunks(spans), 4);
  EXPECT_EQ(TotalChunks({}), 0);
}

TEST(TensorNormsTest, KeepsExtremesAndPassesNonNumbersOn) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kSmallest = std::numeric_limits<float>::denorm_min();
  const std::vector<float> vector = {kLargest, kLargest, kSmallest, kSmallest, -0.0f,
                                     NAN,      1,        INFINITY,  -INFINITY, 3};
  const std::vector<double> norms = Norms(vector, LayoutOf({2, 2, 1, 2, 2, 1}));
  EXPECT_EQ(norms[0], 2 * static_cast<double>(kLargest) * kLargest);
  EXPECT_EQ(norms[1], 2 * static_cast<double>(kSmallest) * kSmallest);
  EXPECT_EQ(norms[2], 0);
  EXPECT_FALSE(std::signbit(norms[2]));
  EXPECT_TRUE(std::isnan(norms[3]));
  EXPECT_EQ(norms[4], INFINITY);
  EXPECT_EQ(norms[5], 9);
}

}  // namespace
}  // namespace grapevine
