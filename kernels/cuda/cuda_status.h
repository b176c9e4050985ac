// Errors of the CUDA runtime as Status.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_STATUS_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_STATUS_H_

#include <cuda_runtime_api.h>

#include <string_view>

#include "absl/status/status.h"

namespace grapevine {

// OK, or "cudaMalloc of 400000000 bytes: out of memory (cudaErrorMemoryAllocation)":
// ResourceExhausted without memory, Unavailable without a usable device or driver,
// else Internal.
absl::Status CudaStatus(cudaError_t error, std::string_view call);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_STATUS_H_
