// The state and the helpers that the layers of one GPU share. The context holds the stream, the
// libraries, the precision, the unscaling of gradients and the first error, and measures plans.
// The helpers queue work on its stream: sums of gradients, a bias or a ReLU that a product's
// epilogue could not do, and copies of weights in the products' format.
//
// Thread-compatible: a context belongs to one CudaTensorDevice, which outlives its layers. Internal
// to kernels/tensor/cuda/.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_CONTEXT_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_CONTEXT_H_

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <cudnn_graph.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/cuda_gpu.h"
#include "kernels/device/device.h"
#include "kernels/tensor/cuda/cuda_tensor_options.h"
#include "kernels/tensor/cuda/library/cudnn_graph.h"
#include "kernels/tensor/cuda/library/plan_cache.h"
#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/layer.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

// The alignment, in bytes, of every region of device memory that a layer divides; a multiple of the
// libraries' needs (16 and 256 bytes).
inline constexpr int64_t kCudaAlignment = 256;
// The alignment, in bytes, of every tensor that a product reads or writes.
inline constexpr int64_t kProductAlignment = 16;

class CudaTensorContext {
 public:
  static absl::StatusOr<std::unique_ptr<CudaTensorContext>> Make(Device& memory,
                                                                 cudaStream_t stream,
                                                                 const CudaTensorOptions& options);
  ~CudaTensorContext();
  CudaTensorContext(const CudaTensorContext&) = delete;
  CudaTensorContext& operator=(const CudaTensorContext&) = delete;

  // The source of device and pinned host memory.
  Device& memory() const { return memory_; }
  cudaStream_t stream() const { return stream_; }
  cudnnHandle_t cudnn() const { return cudnn_; }
  cublasLtHandle_t blas() const { return blas_; }
  const CudaTensorOptions& options() const { return options_; }

  // The way in which layers write the replica's gradient in this step.
  const LossScaled& loss_scaled() const { return loss_scaled_; }
  void set_loss_scaled(const LossScaled& scaled) { loss_scaled_ = scaled; }

  // Waits for the queued work. Returns its error, or DeadlineExceeded after options().timeout.
  absl::Status Wait() { return CudaEvent(stream_).Wait(options_.timeout); }

  // Makes the GPU the calling thread's current one.
  void UseDevice() { Note(cudaSetDevice(options_.device), "cudaSetDevice"); }

  // Returns the rules for engines, as a part of a plan's key.
  std::string Conditions() const;

  // Keep the first error of the queued work, for TakeError.
  void Note(cudaError_t error, std::string_view call) {
    if (error != cudaSuccess) NoteError(error, call);
  }
  void Note(const absl::Status& status) {
    if (!status.ok() && error_.ok()) error_ = status;
  }
  bool ok() const { return error_.ok(); }
  absl::Status TakeError();

  // The plans among which Fastest chooses. `run` queues plan `index` on memory that is provided for
  // the measurement: argument i has argument_bytes[i] bytes, and the last one is the workspace.
  struct Candidates {
    std::string key;  // operation, shapes and types
    std::vector<int64_t> workspace_bytes;
    std::vector<int64_t> argument_bytes;
    std::function<absl::Status(size_t index, std::span<void* const> arguments)> run;
  };
  absl::StatusOr<size_t> Fastest(const Candidates& candidates);
  // Returns the fastest plan for a graph. Layers with equal graphs share the plan.
  absl::StatusOr<CudnnPlan> Fastest(CudnnGraph graph);
  // The total time of all products chosen so far, in seconds, each measured alone. Layers with
  // equal products count once each.
  double product_seconds() const { return product_seconds_; }

 private:
  CudaTensorContext(Device& memory, cudaStream_t stream, const CudaTensorOptions& options)
      : memory_(memory), stream_(stream), options_(options) {}
  absl::Status Open();
  void NoteError(cudaError_t error, std::string_view call);
  struct KnownPlan {
    CudnnPlan plan;
    double seconds;
  };
  absl::StatusOr<FastestPlan> ChooseFastest(const Candidates& candidates);
  absl::StatusOr<KnownPlan> ChooseFastest(CudnnGraph graph);
  absl::StatusOr<double> Seconds(const std::function<absl::Status()>& run);

  Device& memory_;
  const cudaStream_t stream_;
  CudaTensorOptions options_;
  std::string device_;  // the GPU's name and the libraries' versions
  cudnnHandle_t cudnn_ = nullptr;
  cublasLtHandle_t blas_ = nullptr;
  std::map<std::string, KnownPlan> cudnn_plans_;  // plans by the names of their graphs
  double product_seconds_ = 0;
  LossScaled loss_scaled_;
  absl::Status error_;
};

// Queues the addition of the first `count` gradients of the output into the first one. Returns the
// address of the sum.
inline void* SumGradients(CudaTensorContext& context, const LayerTensors& tensors, size_t count,
                          const TensorFormat& format) {
  void* const sum = tensors.output_gradients[0];
  for (size_t k = 1; k < count; ++k) {
    context.Note(CudaElementwise(ElementwisePass::kAdd, format.type, sum,
                                 tensors.output_gradients[k], format.size(), sum, context.stream()),
                 "a sum of gradients");
  }
  return sum;
}

// Queues the addition of all gradients of the output into the first one, and then the gradient of
// the ReLU if `relu`. Returns the address of the result.
inline void* GradientPastRelu(CudaTensorContext& context, const LayerTensors& tensors, bool relu,
                              const TensorFormat& format) {
  void* const dy = SumGradients(context, tensors, tensors.output_gradients.size(), format);
  if (relu) {
    context.Note(CudaElementwise(ElementwisePass::kMask, format.type, tensors.output, dy,
                                 format.size(), dy, context.stream()),
                 "the gradient of a ReLU");
  }
  return dy;
}

// Queues the work that a product's epilogue could not do: y <- y + bias unless bias is null, then
// ReLU if `relu`.
inline void AddBiasAndRelu(CudaTensorContext& context, const TensorFormat& format, const void* bias,
                           bool relu, void* y) {
  if (bias != nullptr) {
    context.Note(CudaAddBias(format, bias, relu, y, context.stream()), "a bias");
  } else if (relu) {
    context.Note(CudaElementwise(ElementwisePass::kRelu, format.type, y, nullptr, format.size(), y,
                                 context.stream()),
                 "a ReLU");
  }
}

// Weights or a bias on their way between the replica and the products of a GPU's layer. They are
// copied into another type and order, or used in place if type and order agree. A value.
struct ProductParameters {
  std::string name;  // "weights of a convolution", for errors
  TensorShape shape;
  int64_t offset = 0;         // offset in the replica
  ElementType type;           // type in which products read the parameters
  ElementType gradient_type;  // type in which products write the gradient

  // Returns the address at which products read the parameters: in the replica, or `packed`.
  const void* Memory(const float* replica, void* packed) const;
  // Copies the parameters to `packed`, unless they are used in place. Returns Memory().
  const void* Pack(CudaTensorContext& context, const float* replica, void* packed) const;

  // Returns the address at which products write the gradient: in the replica's gradient, or
  // `packed`.
  void* GradientMemory(const LossScaled& scaled, float* gradient, void* packed) const;
  // Copies the gradient from `packed` to the replica's gradient, unless it was written in place.
  void UnpackGradient(CudaTensorContext& context, float* gradient, void* packed) const;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_CONTEXT_H_
