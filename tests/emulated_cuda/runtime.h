// The CUDA runtime on the CPU, with one GPU: part of the emulation of CUDA (README.md).
//
// Defines the functions of cuda_runtime_api.h that the project calls, and is linked in their
// place. Work on streams runs as late as it may, on the thread that waits for it or queries it,
// and in any order that streams and events allow: code that forgot to wait finds the work undone.
// While a stream is being captured its work is only recorded; calls that are not allowed
// meanwhile fail, as in CUDA, and invalidate the capture.
//
// Environment: EMULATED_GPU_BYTES is the device's memory, 4 GiB by default, and
// EMULATED_GPU_PIECES the number of pieces of work (copies, kernels, events) after which it is
// lost.
//
// Thread-safe.
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_RUNTIME_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_RUNTIME_H_

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>

namespace emulated_cuda {

// Queues `work` on `stream`, for stand-ins of libraries. Work runs under the device's lock and
// must not call the runtime.
cudaError_t Queue(cudaStream_t stream, std::function<void()> work);

// Whether the GPU reaches the `bytes` bytes at `memory`, all in one allocation.
bool Reaches(const void* memory, size_t bytes);

// Sets the device's memory, in bytes.
void SetDeviceMemory(size_t bytes);

}  // namespace emulated_cuda

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_RUNTIME_H_
