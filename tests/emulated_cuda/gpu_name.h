// The name by which tests recognize the emulated GPU (README.md).
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_GPU_NAME_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_GPU_NAME_H_

namespace emulated_cuda {

inline constexpr char kGpuName[] = "Emulated GPU";

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_GPU_NAME_H_
