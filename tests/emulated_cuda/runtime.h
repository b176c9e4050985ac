// The CUDA runtime on the CPU, with one GPU: part of the emulation of CUDA (README.md).
//
// Defines the functions of cuda_runtime_api.h that the project calls, and is linked in
// their place. Work on streams runs as late as it may, on the thread that waits for it or
// asks about it, and in any order that streams and events allow: what forgot to wait for
// something sees its absence. While a stream is captured its work is recorded only, and
// what may not be done meanwhile fails, as CUDA says, and spoils the capture.
//
// In the environment EMULATED_GPU_BYTES is the device's memory, 4 GiB by default, and
// EMULATED_GPU_PIECES the pieces of work after which it is lost (copies, kernels, events).
//
// Thread-safe.
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_RUNTIME_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_RUNTIME_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace emulated_cuda {

// Queues `work` on `stream`: for stand-ins of libraries. Work runs under the device's
// lock and calls nothing of the runtime.
cudaError_t Queue(cudaStream_t stream, std::function<void()> work);

// Whether the GPU reaches the `bytes` bytes at `memory`, and they are one allocation's.
bool Reaches(const void* memory, size_t bytes);

// The device's memory in bytes from now on.
void SetDeviceMemory(size_t bytes);

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_RUNTIME_H_
