// The GPU's vectors in fewer bits have the CPU's bits. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/codec/quantize.h"
#include "kernels/cuda/cuda_codec.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaQuantizeTest = CudaTest;

constexpr size_t kSizes[] = {0, 1, 3, 255, 256, 257, 1023, 1024, 1025, 5000, 1'000'003};

// Noise, and the float with every upper half, so that every case of rounding is there.
std::vector<float> Everything() {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (uint32_t lower : {0u, 1u, 0x1000u, 0x1001u, 0x7fffu, 0x8000u, 0x8001u, 0xf000u}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  return values;
}

// By bits: NaN is not equal to itself.
template <typename T>
void ExpectSameBits(const std::vector<T>& actual, const std::vector<T>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_EQ(std::memcmp(&actual[i], &expected[i], sizeof(T)), 0)
        << "element " << i << ": " << actual[i] << " against " << expected[i];
  }
}

void ExpectBitsOfCpu(Float16Format format, const std::vector<float>& vector, size_t shift) {
  const size_t size = vector.size();
  const auto elements = static_cast<int64_t>(size);
  std::vector<uint16_t> halves(size);
  std::vector<float> back(size);
  const OnDevice<float> gpu_vector(vector, shift), gpu_back(back, shift);
  const OnDevice<uint16_t> gpu_halves(halves, shift);
  ExpectCuda(CudaConvertToFloat16(format, gpu_vector.get(), elements, gpu_halves.get(), nullptr),
             "to 16 bits");
  ExpectCuda(CudaConvertFromFloat16(format, gpu_halves.get(), elements, gpu_back.get(), nullptr),
             "from 16 bits");
  ConvertToFloat16(format, vector.data(), elements, halves.data());
  ConvertFromFloat16(format, halves.data(), elements, back.data());
  ExpectSameBits(gpu_halves.Read(), halves);
  ExpectSameBits(gpu_back.Read(), back);
}

TEST_F(CudaQuantizeTest, HalvesHaveTheBitsOfTheCpu) {
  for (const Float16Format format : {Float16Format::kHalf, Float16Format::kBrain}) {
    ExpectBitsOfCpu(format, Everything(), 0);
    for (const size_t size : kSizes) {
      for (const size_t shift : {0, 1, 4}) ExpectBitsOfCpu(format, Noise(1, size), shift);
    }
  }
}

void ExpectInt8OfCpu(const std::vector<float>& vector, size_t shift) {
  SCOPED_TRACE(::testing::Message() << vector.size() << " from " << shift);
  const auto size = static_cast<int64_t>(vector.size());
  std::vector<std::byte> wire(static_cast<size_t>(Int8Bytes(size)), std::byte{0xcd});
  std::vector<float> back(vector.size());
  const OnDevice<float> gpu_vector(vector, shift), gpu_back(back, shift);
  const OnDevice<std::byte> gpu_wire(wire, 4 * shift);
  const uint64_t key = Int8Key(/*seed=*/1, /*round=*/2, /*node=*/3);
  ExpectCuda(CudaQuantizeInt8(gpu_vector.get(), size, key, gpu_wire.get(), nullptr), "quantize");
  ExpectCuda(CudaDequantizeInt8(gpu_wire.get(), size, gpu_back.get(), nullptr), "dequantize");
  QuantizeInt8(vector.data(), size, key, wire.data());
  DequantizeInt8(wire.data(), size, back.data());
  EXPECT_EQ(gpu_wire.Read(), wire);
  const std::vector<float> gpu_values = gpu_back.Read();
  for (size_t i = 0; i < back.size(); ++i) {
    ASSERT_TRUE(gpu_values[i] == back[i] || (std::isnan(gpu_values[i]) && std::isnan(back[i])))
        << i;
  }
}

TEST_F(CudaQuantizeTest, Int8HasTheBitsOfTheCpu) {
  for (const size_t size : kSizes) {
    for (const size_t shift : {0, 1}) ExpectInt8OfCpu(Noise(1, size), shift);
  }
  std::vector<float> special = Noise(1, 5000);
  special[100] = NAN;
  special[1500] = INFINITY;
  for (size_t i = 2048; i < 3072; ++i) special[i] *= 1e-38f;
  special[3500] = 3.4e38f;
  ExpectInt8OfCpu(special, 0);
}

}  // namespace
}  // namespace grapevine
