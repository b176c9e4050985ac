// The CPU's layers against the references in fp32.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/tensor/cpu/cpu_tensor_device.h"
#include "kernels/tensor/tensor_thread.h"
#include "tests/kernels/tensor/layer_under_test.h"

namespace grapevine {
namespace {

class CpuUnderTest : public DeviceUnderTest {
 public:
  TensorDevice& device() override { return device_; }
  // Sums of up to a few thousand products in fp32, in another order than the reference's.
  float tolerance() const override { return 2e-5f; }
  void Write(const void* host, int64_t bytes, void* memory) override {
    std::memcpy(memory, host, bytes);
  }
  void Read(const void* memory, int64_t bytes, void* host) override {
    std::memcpy(host, memory, bytes);
  }

 private:
  CpuTensorDevice device_;
};

class CpuLayersTest : public ::testing::TestWithParam<LayerCase> {
 protected:
  CpuUnderTest device_;
  const TensorThread thread_;
};

TEST_P(CpuLayersTest, AgreesWithTheReference) { ExpectAgreesWithTheReference(GetParam(), device_); }
TEST_P(CpuLayersTest, RepeatsItselfBitByBit) { ExpectRepeatsItselfBitByBit(GetParam(), device_); }

INSTANTIATE_TEST_SUITE_P(Operations, CpuLayersTest,
                         ::testing::ValuesIn(LayerCases({Layout::kNchw, Layout::kNhwc,
                                                         Layout::kNchw8c, Layout::kNchw16c})),
                         [](const auto& info) { return NameOf(info.param); });

class CpuInferenceTest : public CpuLayersTest {};

TEST_P(CpuInferenceTest, AgreesWithTheReference) { ExpectAgreesInInference(GetParam(), device_); }

// A plain layout and a blocked one: layouts as such are compared in training.
INSTANTIATE_TEST_SUITE_P(Operations, CpuInferenceTest,
                         ::testing::ValuesIn(InferenceCases({Layout::kNhwc, Layout::kNchw16c})),
                         [](const auto& info) { return NameOf(info.param); });

}  // namespace
}  // namespace grapevine
