// The parameters of a test that needs a GPU.
#ifndef GRAPEVINE_TESTS_TESTING_GPU_CASES_H_
#define GRAPEVINE_TESTS_TESTING_GPU_CASES_H_

#include <utility>
#include <vector>

#include "kernels/device/device.h"
#include "tests/emulated_cuda/gpu_name.h"

namespace grapevine {

// Whether the GPU is the emulated one, which takes a thousand times as long.
inline bool GpuIsEmulated() {
  const auto gpus = FindGpus();
  return gpus.ok() && gpus->front().name == emulated_cuda::kGpuName;
}

// All if there is a GPU, `emulated` if it is the emulated one; otherwise only the first, which is
// left out (gpu_main.cc).
template <typename T>
std::vector<T> GpuCases(std::vector<T> cases, std::vector<T> emulated) {
  if (GpuIsEmulated()) return emulated;
  if (!FindGpus().ok()) cases.resize(1);
  return cases;
}

// The same for both.
template <typename T>
std::vector<T> GpuCases(const std::vector<T>& cases) {
  return GpuCases(cases, cases);
}

// Whether the GPU is young enough.
inline bool GpuComputesBf16() {
  const auto gpus = FindGpus();
  return gpus.ok() && gpus->front().compute_capability >= 80;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_TESTING_GPU_CASES_H_
