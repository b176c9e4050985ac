// The parameters of a test that needs a GPU.
#ifndef GRAPEVINE_TESTS_TESTING_GPU_CASES_H_
#define GRAPEVINE_TESTS_TESTING_GPU_CASES_H_

#include <vector>

#include "kernels/device/gpu.h"

namespace grapevine {

// All where there is a GPU; else the first alone, which says why it is skipped.
template <typename T>
std::vector<T> GpuCases(std::vector<T> cases) {
  if (!FindGpus().ok()) cases.resize(1);
  return cases;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_TESTING_GPU_CASES_H_
