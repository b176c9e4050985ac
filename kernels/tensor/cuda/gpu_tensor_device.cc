#include "kernels/cuda/cuda_gpu.h"
#include "kernels/tensor/cuda/cuda_tensor_device.h"
#include "kernels/tensor/tensor_device.h"

namespace grapevine {
namespace {

ElementType TypeOf(Precision precision) {
  switch (precision) {
    case Precision::kFp32:
    case Precision::kTf32:
      return ElementType::kFloat32;
    case Precision::kBf16:
      return ElementType::kBFloat16;
    case Precision::kFp16:
      return ElementType::kFloat16;
  }
  return ElementType::kFloat32;
}

}  // namespace

// The casts are safe: in a build with CUDA, all devices and streams are CUDA's.
absl::StatusOr<std::unique_ptr<TensorDevice>> MakeGpuTensorDevice(
    Device& device, DeviceStream& stream, Precision precision, std::chrono::nanoseconds timeout) {
  CudaTensorOptions options;
  options.device = static_cast<CudaGpu&>(device).index();
  options.type = TypeOf(precision);
  options.timeout = timeout;
  options.tf32 = precision != Precision::kFp32;
  return MakeCudaTensorDevice(device, static_cast<CudaStream&>(stream).get(), options);
}

}  // namespace grapevine
