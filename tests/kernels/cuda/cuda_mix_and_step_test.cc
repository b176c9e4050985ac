// The GPU's pass has the CPU's bits. Skips where there is no GPU.
#include "kernels/cuda/cuda_mix_and_step.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/cuda_device.h"
#include "kernels/cuda/cuda_status.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

// Device memory with a copy of `values`.
class OnDevice {
 public:
  explicit OnDevice(const std::vector<float>& values) : size_(values.size()) {
    EXPECT_TRUE(CudaStatus(cudaMalloc(&memory_, bytes()), "cudaMalloc").ok());
    EXPECT_TRUE(
        CudaStatus(cudaMemcpy(memory_, values.data(), bytes(), cudaMemcpyDefault), "copy").ok());
  }
  ~OnDevice() { cudaFree(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  float* get() const { return static_cast<float*>(memory_); }
  std::vector<float> Read() const {
    std::vector<float> values(size_);
    const cudaError_t copied = cudaMemcpy(values.data(), memory_, bytes(), cudaMemcpyDefault);
    EXPECT_TRUE(CudaStatus(copied, "copy").ok());
    return values;
  }

 private:
  size_t bytes() const { return size_ * sizeof(float); }

  const size_t size_;
  void* memory_ = nullptr;
};

std::vector<float> Random(uint64_t key, size_t size) {
  KeyedRandom random(5, Purpose::kGradientNoise, key);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(random.Normal());
  return values;
}

struct Setting {
  size_t vectors;
  size_t size;
  float momentum;
  bool nesterov;
  float weight_decay;
};

void Compare(const Setting& setting) {
  SCOPED_TRACE(::testing::Message() << setting.vectors << " vectors of " << setting.size
                                    << ", momentum " << setting.momentum);
  std::vector<std::vector<float>> vectors;
  std::vector<std::unique_ptr<OnDevice>> on_device;
  std::vector<WeightedVector> cpu_mix, gpu_mix;
  for (size_t k = 0; k < setting.vectors; ++k) {
    vectors.push_back(Random(k, setting.size));
    on_device.push_back(std::make_unique<OnDevice>(vectors.back()));
    const float weight = 1.0f / static_cast<float>(k + 2);
    gpu_mix.push_back({weight, on_device.back()->get()});
  }
  for (size_t k = 0; k < setting.vectors; ++k) {
    cpu_mix.push_back({gpu_mix[k].weight, vectors[k].data()});
  }
  std::vector<float> gradient = Random(1000, setting.size), velocity = Random(1001, setting.size),
                     out(setting.size);
  const OnDevice gpu_gradient(gradient), gpu_velocity(velocity), gpu_out(out);
  SgdStep step{.own = vectors[0].data(),
               .gradient = gradient.data(),
               .velocity = velocity.data(),
               .learning_rate = 0.1f,
               .gradient_scale = 0.5f,
               .weight_decay = setting.weight_decay,
               .momentum = setting.momentum,
               .nesterov = setting.nesterov};
  const auto size = static_cast<int64_t>(setting.size);
  SgdStep gpu_step = step;
  gpu_step.own = on_device[0]->get();
  gpu_step.gradient = gpu_gradient.get();
  gpu_step.velocity = gpu_velocity.get();
  ASSERT_TRUE(
      CudaStatus(CudaMixAndStep(gpu_mix, gpu_step, size, gpu_out.get(), nullptr), "mix").ok());
  MixAndStep(cpu_mix, step, size, out.data());
  EXPECT_EQ(gpu_out.Read(), out);
  EXPECT_EQ(gpu_velocity.Read(), velocity);
}

TEST(CudaMixAndStepTest, HasTheBitsOfTheCpu) {
  if (const auto devices = FindCudaDevices(); !devices.ok()) {
    GTEST_SKIP() << devices.status().message();
  }
  for (const size_t vectors : {size_t{1}, size_t{3}, size_t{5}, kMostCudaTerms}) {
    for (const size_t size : {1, 3, 4, 1027, 1 << 20}) {
      if (vectors == kMostCudaTerms && size > 2000) continue;
      Compare({vectors, size, 0, false, 0});
      Compare({vectors, size, 0.9f, false, 0});
      Compare({vectors, size, 0.9f, true, 1e-4f});
    }
  }
}

TEST(CudaMixAndStepTest, RefusesMoreVectorsThanItsArgumentsHold) {
  const std::vector<WeightedVector> mix(kMostCudaTerms + 1);
  EXPECT_EQ(CudaMixAndStep(mix, {}, 4, nullptr, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace grapevine
