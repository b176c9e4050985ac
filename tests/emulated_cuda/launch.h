// Kernel launches: emulated_cuda.bzl turns `Kernel<<<grid, block, shared, stream>>>(arguments)`
// into `::emulated_cuda::Launch(Kernel, grid, block, shared, stream)(arguments)`. Part of the
// emulation of CUDA (README.md).
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_LAUNCH_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_LAUNCH_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <tuple>
#include <type_traits>

namespace emulated_cuda {

// Queues `thread` for all threads of a grid. A launch that no GPU accepts sets
// cudaErrorInvalidConfiguration for cudaGetLastError.
void LaunchThreads(const dim3& grid, const dim3& block, size_t shared, cudaStream_t stream,
                   std::function<void()> thread);

// Arguments are converted to the parameters' types and copied at the call.
template <typename... Parameters>
auto Launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared = 0,
            cudaStream_t stream = nullptr) {
  static_assert((sizeof(Parameters) + ... + 0) <= 4096, "what a kernel's arguments may take");
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "they are copied as bytes");
  return [=](Parameters... arguments) {
    LaunchThreads(
        grid, block, shared, stream,
        [kernel, all = std::tuple<Parameters...>(arguments...)] { std::apply(kernel, all); });
  };
}

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_LAUNCH_H_
