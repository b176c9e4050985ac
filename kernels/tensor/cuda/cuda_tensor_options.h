// Options that say how a GPU computes networks.
#ifndef GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_OPTIONS_H_
#define GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_OPTIONS_H_

#include <chrono>
#include <cstdint>
#include <memory>

#include "kernels/tensor/cuda/loss_scaling.h"
#include "kernels/tensor/tensor_format.h"

namespace grapevine {

class PlanCache;

struct CudaTensorOptions {
  int device = 0;  // the GPU's index, as the CUDA runtime counts
  // The type of activations, their gradients, and the weights that products read. Sums are
  // fp32, and so are the replica, its gradient, its biases, and everything of batch
  // normalization. bf16 needs compute capability 8.0.
  ElementType type = ElementType::kFloat32;
  // Whether fp32 products may use tensor cores, which round their operands to 10 bits of mantissa.
  bool tf32 = true;
  // Whether only engines are used whose sums have the same order in every run.
  bool deterministic = true;
  int64_t most_workspace_bytes = int64_t{1} << 30;  // for one operation
  // The largest number of plans tried for each operation, as in PyTorch's cudnn.benchmark. The best
  // plan is seldom the first, and the first few are often one engine with other tiles.
  int plans_to_measure = 10;
  // The limit of a wait for the GPU: for a step, or for measuring a plan.
  std::chrono::nanoseconds timeout = std::chrono::minutes(15);
  LossScalingOptions loss_scaling;  // used with fp16 only
  // The cache of measured plans, which the devices of a process may share. If it is null, the
  // device has a cache of its own.
  std::shared_ptr<PlanCache> plans;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_TENSOR_CUDA_CUDA_TENSOR_OPTIONS_H_
