// A GPU's tensor operations: convolution by cuDNN, inner product by cuBLASLt, passes of
// our own for the rest.
//
// Everything is queued on one stream, which the caller provides and which outlives the device;
// nothing allocates within a step, and only Finish waits, for an event after what was queued,
// and no longer than options.timeout. Each network has its own device. Layers are nhwc.
//
// With fp16 the loss is scaled (loss_scaling.h): gradients are final only after EndGradient.
//
// Thread-compatible.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_DEVICE_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_DEVICE_H_

#include <cuda_runtime_api.h>

#include <memory>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "kernels/tensor/cuda/cuda_tensor_options.h"
#include "kernels/tensor/tensor_device.h"

namespace grapevine {

// Memory comes from `memory`, of the GPU options.device, which outlives the device. Unavailable
// if the GPU is, or if it does not support options.type; Internal with the libraries' error.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeCudaTensorDevice(
    Device& memory, cudaStream_t stream, const CudaTensorOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_DEVICE_H_
