// A GPU's layers against the references, in every precision. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_gpu.h"
#include "kernels/device/device.h"
#include "kernels/tensor/cuda/cuda_tensor_device.h"
#include "kernels/tensor/softmax_cross_entropy.h"
#include "tests/kernels/tensor/layer_under_test.h"
#include "tests/testing/gpu_cases.h"

namespace grapevine {
namespace {

struct Precision {
  std::string name;
  ElementType type;
  bool tf32;
  float tolerance;  // of the largest value: outputs and gradients are rounded, products too
};
const std::vector<Precision>& Precisions() {
  static const auto* precisions =
      new std::vector<Precision>{{"Fp32", ElementType::kFloat32, false, 1e-4f},
                                 {"Tf32", ElementType::kFloat32, true, 5e-3f},
                                 {"Bf16", ElementType::kBFloat16, true, 2e-2f},
                                 {"Fp16", ElementType::kFloat16, true, 3e-3f}};
  return *precisions;
}

class GpuUnderTest : public DeviceUnderTest {
 public:
  explicit GpuUnderTest(const Precision& precision, const LossScalingOptions& scaling = {})
      : precision_(precision) {
    EXPECT_TRUE(CudaStatus(cudaStreamCreate(&stream_), "cudaStreamCreate").ok());
    auto gpu = OpenGpu(0);
    EXPECT_TRUE(gpu.ok()) << gpu.status();
    gpu_ = *std::move(gpu);
    auto device = MakeCudaTensorDevice(
        *gpu_, stream_, {.type = precision.type, .tf32 = precision.tf32, .loss_scaling = scaling});
    EXPECT_TRUE(device.ok()) << device.status();
    device_ = *std::move(device);
  }
  ~GpuUnderTest() override {
    device_.reset();
    cudaStreamDestroy(stream_);
  }

  TensorDevice& device() override { return *device_; }
  ElementType type() const override { return precision_.type; }
  bool tf32() const override { return precision_.type == ElementType::kFloat32 && precision_.tf32; }
  float tolerance() const override { return precision_.tolerance; }
  void Write(const void* host, int64_t bytes, void* memory) override { Copy(host, bytes, memory); }
  void Read(const void* memory, int64_t bytes, void* host) override { Copy(memory, bytes, host); }

 private:
  // Behind what the stream has: it is not one of those that do not wait for others.
  static void Copy(const void* from, int64_t bytes, void* to) {
    const cudaError_t copied = cudaMemcpy(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault);
    EXPECT_TRUE(CudaStatus(copied, "cudaMemcpy").ok());
  }

  const Precision precision_;
  std::unique_ptr<Device> gpu_;
  cudaStream_t stream_ = nullptr;
  std::unique_ptr<TensorDevice> device_;
};

// Those that the GPU computes.
std::vector<Precision> PrecisionsHere() {
  std::vector<Precision> precisions = GpuCases(Precisions());
  std::erase_if(precisions, [](const Precision& precision) {
    return precision.type == ElementType::kBFloat16 && !GpuComputesBf16();
  });
  return precisions;
}

// One for all tests of a precision: libraries and plans are made once.
GpuUnderTest& SharedGpu(const Precision& precision) {
  static auto* gpus = new std::map<std::string, std::unique_ptr<GpuUnderTest>>();
  std::unique_ptr<GpuUnderTest>& gpu = (*gpus)[precision.name];
  if (gpu == nullptr) gpu = std::make_unique<GpuUnderTest>(precision);
  return *gpu;
}

class CudaLayersTest : public ::testing::TestWithParam<std::tuple<Precision, LayerCase>> {
 protected:
  void SetUp() override { device_ = &SharedGpu(precision()); }
  const Precision& precision() const { return std::get<0>(GetParam()); }
  const LayerCase& layer() const { return std::get<1>(GetParam()); }

  GpuUnderTest* device_ = nullptr;
};

TEST_P(CudaLayersTest, AgreesWithTheReference) { ExpectAgreesWithTheReference(layer(), *device_); }
TEST_P(CudaLayersTest, AgreesInInference) { ExpectAgreesInInference(layer(), *device_); }

INSTANTIATE_TEST_SUITE_P(
    Operations, CudaLayersTest,
    ::testing::Combine(::testing::ValuesIn(PrecisionsHere()),
                       ::testing::ValuesIn(GpuCases(LayerCases({Layout::kNhwc})))),
    [](const auto& info) {
      return std::get<0>(info.param).name + NameOf(std::get<1>(info.param));
    });

class CudaTensorDeviceTest : public ::testing::TestWithParam<Precision> {};

// Logits that every precision holds exactly.
std::vector<float> Logits(int64_t size) {
  std::vector<float> logits = RandomValues<float>(size, 4);
  for (float& logit : logits) logit = std::round(logit * 16) / 16;
  return logits;
}

// Layers that are equal count each; a layer without a product does not.
TEST_P(CudaTensorDeviceTest, KnowsWhatItsProductsTake) {
  GpuUnderTest gpu(GetParam());
  TensorDevice& device = gpu.device();
  EXPECT_EQ(device.product_seconds(), 0);
  const auto images = device.PrepareInput({4, 8, 6, 6});
  ASSERT_TRUE(images.ok()) << images.status();
  const LayerRequest product{.operation = Convolution{.outputs = 8, .kernel = 3, .padding = 1},
                             .inputs = {*images},
                             .wants_gradient = {true}};
  ASSERT_TRUE(device.MakeLayer(product).ok());
  const double one = device.product_seconds();
  EXPECT_GT(one, 0);
  ASSERT_TRUE(device.MakeLayer(product).ok());
  EXPECT_DOUBLE_EQ(device.product_seconds(), 2 * one);
  const LayerRequest relu{.operation = Relu{}, .inputs = {*images}, .wants_gradient = {true}};
  ASSERT_TRUE(device.MakeLayer(relu).ok());
  EXPECT_DOUBLE_EQ(device.product_seconds(), 2 * one);
}

TEST_P(CudaTensorDeviceTest, TheLossIsTheCpus) {
  constexpr int64_t kClasses = 70;
  std::vector<int32_t> labels;
  for (int64_t n = 0; n < 19; ++n) labels.push_back(static_cast<int32_t>(n * 7 % kClasses));
  const auto rows = static_cast<int64_t>(labels.size());
  const std::vector<float> logits = Logits(rows * kClasses);
  GpuUnderTest gpu(GetParam());
  // The logits come as images, so that they are rounded as a batch is.
  const auto format = gpu.device().PrepareInput({rows, kClasses});
  ASSERT_TRUE(format.ok()) << format.status();
  const auto memory = *gpu.device().NewArena(format->bytes(), "logits");
  gpu.device().BeginBatch({.images = logits, .labels = labels}, *format, memory.get());
  gpu.device().ComputeLoss({.loss = {kClasses, 0.1f}, .logits = memory.get()});
  const auto result = gpu.device().Finish();
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_NEAR(result->loss_sum,
              SoftmaxCrossEntropy({kClasses, 0.1f}, logits.data(), labels, nullptr), 1e-3);
  EXPECT_EQ(result->correct, CountCorrect(kClasses, logits.data(), labels));
}

INSTANTIATE_TEST_SUITE_P(Precisions, CudaTensorDeviceTest, ::testing::ValuesIn(PrecisionsHere()),
                         [](const auto& info) { return info.param.name; });

// One inner product whose gradient is too large for fp16 at the first scale.
class Overflow {
 public:
  explicit Overflow(float scale) : gpu_(Precisions()[3], {.start = scale}) {
    LayerRequest request{.operation = InnerProduct{.outputs = 2, .weight = 0},
                         .inputs = {*gpu_.device().PrepareInput({1, 1})},
                         .wants_gradient = {false}};
    layer_ = *gpu_.device().MakeLayer(request);
    for (std::shared_ptr<void>* memory :
         {&x_, &y_, &dy_, &kept_, &scratch_, &replica_, &gradient_}) {
      *memory = *gpu_.device().NewArena(
          256 + std::max(layer_->kept_bytes(), layer_->scratch_bytes()), "a tensor");
    }
    layer_->Bind({.inputs = {x_.get()},
                  .output = y_.get(),
                  .output_gradients = {dy_.get()},
                  .input_gradients = {nullptr},
                  .kept = kept_.get(),
                  .scratch = scratch_.get()});
  }

  // Weights of zero, an image of 1, the label 0: the gradient is (-1/2, 1/2).
  std::vector<float> Gradient() {
    const std::vector<float> images = {1};
    const std::vector<int32_t> labels = {0};
    auto* const replica = static_cast<float*>(replica_.get());
    auto* const gradient = static_cast<float*>(gradient_.get());
    TensorDevice& device = gpu_.device();
    device.BeginBatch({.images = images, .labels = labels},
                      {{1, 1}, Layout::kNhwc, ElementType::kFloat16}, x_.get());
    layer_->Forward(replica, gradient);
    device.ComputeLoss({.loss = {2}, .logits = y_.get(), .gradient = dy_.get()});
    layer_->Backward(replica, gradient);
    device.EndGradient({.replica = replica, .gradient = gradient, .parameter_size = 2, .size = 2});
    const auto finished = device.Finish();
    EXPECT_TRUE(finished.ok()) << finished.status();
    std::vector<float> values(2);
    gpu_.Read(gradient, 2 * sizeof(float), values.data());
    return values;
  }

 private:
  GpuUnderTest gpu_;
  std::unique_ptr<Layer> layer_;
  std::shared_ptr<void> x_, y_, dy_, kept_, scratch_, replica_, gradient_;
};

TEST(CudaLossScalingTest, AStepThatOverflowsHasNoGradientAndTheNextOneHas) {
  Overflow step(262144);  // times 1/2 is more than 65504
  EXPECT_EQ(step.Gradient(), (std::vector<float>{0, 0}));
  EXPECT_EQ(step.Gradient(), (std::vector<float>{0, 0}));
  EXPECT_EQ(step.Gradient(), (std::vector<float>{-0.5f, 0.5f}));
}

}  // namespace
}  // namespace grapevine
