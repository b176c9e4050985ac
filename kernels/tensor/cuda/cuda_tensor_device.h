// A GPU's tensor operations: convolution by cuDNN, inner product by cuBLASLt, passes of our own for
// the rest.
//
// All work is queued on one stream, which the caller provides and which must outlive the device.
// Nothing allocates within a step. Only Finish waits: for an event after the queued work, and no
// longer than options.timeout. Each network has its own device. Layers are nhwc.
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

// Makes a device whose memory comes from `memory`, the GPU with index options.device; `memory` must
// outlive it. Unavailable if the GPU is unavailable or does not support options.type; Internal with
// the libraries' error.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeCudaTensorDevice(
    Device& memory, cudaStream_t stream, const CudaTensorOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_DEVICE_H_
