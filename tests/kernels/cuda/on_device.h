// Shared by the tests of GPU kernels.
#ifndef GRAPEVINE_TESTS_KERNELS_CUDA_ON_DEVICE_H_
#define GRAPEVINE_TESTS_KERNELS_CUDA_ON_DEVICE_H_

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "kernels/cuda/cuda_gpu.h"
#include "kernels/passes/denormals.h"
#include "random/keyed_random.h"
#include "tests/testing/gpu_cases.h"

namespace grapevine {

inline void ExpectCuda(cudaError_t error, const char* what) {
  const absl::Status status = CudaStatus(error, what);
  EXPECT_TRUE(status.ok()) << status;
}

// Device memory with a copy of `values`, `shift` elements past a boundary of 256 bytes.
template <typename T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values, size_t shift = 0)
      : size_(values.size()), shift_(shift) {
    // At least one element, so that there is a pointer to pass; otherwise nothing past the end.
    ExpectCuda(cudaMalloc(&memory_, std::max<size_t>(1, size_ + shift_) * sizeof(T)), "cudaMalloc");
    ExpectCuda(cudaMemcpy(get(), values.data(), size_ * sizeof(T), cudaMemcpyDefault), "copy");
  }
  ~OnDevice() { cudaFree(memory_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  T* get() const { return static_cast<T*>(memory_) + shift_; }
  // Waits for everything that was begun.
  std::vector<T> Read() const {
    std::vector<T> values(size_);
    ExpectCuda(cudaDeviceSynchronize(), "the kernel");
    ExpectCuda(cudaMemcpy(values.data(), get(), size_ * sizeof(T), cudaMemcpyDefault), "copy");
    return values;
  }

 private:
  const size_t size_;
  const size_t shift_;
  void* memory_ = nullptr;
};

// Returns the size with which a test looks at a large vector: an eighth of it on the emulated GPU.
inline size_t SizeHere(size_t size) {
  static const bool emulated = GpuIsEmulated();
  return emulated && size >= 1'000'000 ? size - size / 8 * 7 : size;
}

// Drawn once for each key: drawing is slower than the code under test.
inline std::vector<float> Noise(uint64_t key, size_t size) {
  static auto* const drawn = new std::map<uint64_t, std::vector<float>>;
  std::vector<float>& values = (*drawn)[key];
  if (values.size() < size) {
    values.resize(size);
    KeyedRandom random(/*seed=*/5, Purpose::kGradientNoise, key);
    for (float& value : values) value = static_cast<float>(random.Normal());
  }
  return {values.begin(), values.begin() + static_cast<std::ptrdiff_t>(size)};
}

// A test of a kernel. Denormals are flushed, as in kernels.
class CudaTest : public ::testing::Test {
 private:
  const FlushDenormals flush_denormals_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_KERNELS_CUDA_ON_DEVICE_H_
