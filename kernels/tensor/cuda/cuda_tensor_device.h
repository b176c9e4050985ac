// A GPU's tensor operations: convolution by cuDNN, inner product by cuBLASLt, passes of
// our own for the rest.
//
// Everything is queued on one stream, which the caller gives and which outlives the
// device; nothing allocates within a step, and only Finish waits, for an event behind
// what was queued, and no longer than options.timeout. A network of its own has a device of its
// own. Layers are nhwc.
//
// With fp16 the loss is scaled (loss_scaling.h): gradients are final after EndGradient
// only.
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

// Its memory is `memory`'s, which outlives the device: that of the GPU options.device.
// Unavailable where the GPU is, or where it does not compute options.type; Internal with
// what the libraries say.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeCudaTensorDevice(
    Device& memory, cudaStream_t stream, const CudaTensorOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_DEVICE_H_
