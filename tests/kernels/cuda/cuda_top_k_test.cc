// The GPU selects what the CPU selects. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/codec/top_k.h"
#include "kernels/cuda/cuda_codec.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaTopKTest = CudaTest;

void ExpectSelectionOfCpu(const std::vector<float>& vector, int64_t k, size_t shift = 0) {
  const auto size = static_cast<int64_t>(vector.size());
  SCOPED_TRACE(::testing::Message() << k << " of " << size);
  std::vector<uint32_t> indices(static_cast<size_t>(k) + 1, 42);
  std::vector<float> values(static_cast<size_t>(k) + 1, 42);
  const OnDevice<float> gpu_vector(vector, shift), gpu_values(values);
  const OnDevice<uint32_t> gpu_indices(indices);
  // What the workspace held before is of no matter.
  const OnDevice<char> workspace(std::vector<char>(CudaTopKWorkspace(size), 0x55));
  ExpectCuda(CudaTopK(gpu_vector.get(), size, k, gpu_indices.get(), gpu_values.get(),
                      workspace.get(), nullptr),
             "top k");
  TopK(vector.data(), size, k, indices.data(), values.data());
  EXPECT_EQ(gpu_indices.Read(), indices);
  const std::vector<float> read = gpu_values.Read();
  EXPECT_EQ(std::memcmp(read.data(), values.data(), read.size() * sizeof(float)), 0);
}

TEST_F(CudaTopKTest, SelectsAsTheCpu) {
  for (const int64_t size : {1, 3, 255, 256, 257, 4095, 4096, 4097, 100'000, 1'000'003}) {
    const std::vector<float> vector = Noise(1, static_cast<size_t>(size));
    for (const int64_t k : {int64_t{1}, size / 100, size / 2, size}) {
      ExpectSelectionOfCpu(vector, k, static_cast<size_t>(size % 4));
    }
  }
  ExpectSelectionOfCpu({}, 0);
}

TEST_F(CudaTopKTest, BreaksTiesAsTheCpu) {
  std::vector<float> vector(20'000);
  for (size_t i = 0; i < vector.size(); ++i) vector[i] = i % 3 == 0 ? -1.0f : 1.0f;
  vector[15'000] = 2;
  for (const int64_t k : {1, 2, 5000, 19'999}) ExpectSelectionOfCpu(vector, k);
  ExpectSelectionOfCpu(std::vector<float>(10'000, 0.0f), 5000);
}

TEST_F(CudaTopKTest, TreatsSpecialValuesAsTheCpu) {
  std::vector<float> vector = Noise(1, 10'000);
  for (float& value : vector) value *= 1e-38f;  // denormals
  vector[5000] = NAN;
  vector[77] = -INFINITY;
  vector[78] = -0.0f;
  for (const int64_t k : {1, 2, 3, 100, 9999, 10'000}) ExpectSelectionOfCpu(vector, k);
}

TEST(TopKLimitsTest, RefusesMoreThanThereAre) {
  EXPECT_EQ(CudaTopK(nullptr, 3, 4, nullptr, nullptr, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(CudaTopK(nullptr, 3, -1, nullptr, nullptr, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(CudaTopK(nullptr, int64_t{1} << 32, 4, nullptr, nullptr, nullptr, nullptr),
            cudaErrorInvalidValue);
}

}  // namespace
}  // namespace grapevine
