#include "kernels/tensor/cuda/passes/cuda_tensor_passes.h"
#include "kernels/tensor/cuda/passes/element.h"
#include "kernels/tensor/softmax_cross_entropy.h"

namespace grapevine {
namespace {

constexpr unsigned kAll = 0xffffffff;
constexpr int kRowsOfBlock = kThreads / kWarp;

// Computes a row with a warp. The lanes' sums are added in a fixed order.
template <typename T>
__global__ void RowsKernel(CrossEntropy loss, int64_t rows, const T* all_logits,
                           const int32_t* labels, float scale, T* all_gradients,
                           CudaLossSums* row_sums) {
  const int64_t row = blockIdx.x * int64_t{kRowsOfBlock} + threadIdx.y;
  if (row >= rows) return;  // holds for whole warps
  const auto lane = static_cast<int64_t>(threadIdx.x);
  const T* const logits = all_logits + row * loss.classes;
  const int32_t label = labels[row];
  const float own = ToFloat(logits[label]);

  SoftmaxSums sums;
  sums.largest = -INFINITY;
  bool beaten = own != own;
  for (int64_t c = lane; c < loss.classes; c += kWarp) {
    const float logit = ToFloat(logits[c]);
    sums.largest = fmaxf(sums.largest, logit);
    // The first of equal logits wins.
    beaten = beaten || logit > own || (logit == own && c < label);
  }
  for (int step = kWarp / 2; step > 0; step /= 2) {
    sums.largest = fmaxf(sums.largest, __shfl_xor_sync(kAll, sums.largest, step));
  }
  for (int64_t c = lane; c < loss.classes; c += kWarp) AddLogit(ToFloat(logits[c]), &sums);
  for (int step = kWarp / 2; step > 0; step /= 2) {
    sums.exponentials += __shfl_xor_sync(kAll, sums.exponentials, step);
    sums.logits += __shfl_xor_sync(kAll, sums.logits, step);
  }
  if (all_gradients != nullptr) {
    const LogitGradient gradient = RowGradient(loss.classes, loss.label_smoothing, sums, scale);
    T* const written = all_gradients + row * loss.classes;
    for (int64_t c = lane; c < loss.classes; c += kWarp) {
      Store(GradientOfLogit(gradient, ToFloat(logits[c]) - sums.largest, c == label), written + c);
    }
  }
  beaten = __any_sync(kAll, beaten);
  if (lane != 0) return;
  row_sums[row] = {RowLoss(loss.classes, loss.label_smoothing, sums, own), beaten ? 0 : 1};
}

// *sums <- the sums over the rows, by one block.
__global__ void SumKernel(const CudaLossSums* row_sums, int64_t rows, CudaLossSums* sums) {
  __shared__ double losses[kThreads];
  __shared__ int64_t corrects[kThreads];
  double loss = 0;
  int64_t correct = 0;
  for (int64_t row = threadIdx.x; row < rows; row += kThreads) {
    loss += row_sums[row].loss;
    correct += row_sums[row].correct;
  }
  losses[threadIdx.x] = loss;
  corrects[threadIdx.x] = correct;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) {
      losses[threadIdx.x] += losses[threadIdx.x + half];
      corrects[threadIdx.x] += corrects[threadIdx.x + half];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *sums = {losses[0], corrects[0]};
}

}  // namespace

cudaError_t CudaSoftmaxCrossEntropy(const CudaLossCall& call, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>((call.rows + kRowsOfBlock - 1) / kRowsOfBlock);
  const cudaError_t launched = WithElement(call.type, [&](auto element) {
    using T = decltype(element);
    RowsKernel<T><<<blocks, dim3(kWarp, kRowsOfBlock), 0, stream>>>(
        call.loss, call.rows, static_cast<const T*>(call.logits), call.labels, call.gradient_scale,
        static_cast<T*>(call.gradient), call.row_sums);
    return cudaGetLastError();
  });
  if (launched != cudaSuccess) return launched;
  SumKernel<<<1, kThreads, 0, stream>>>(call.row_sums, call.rows, call.sums);
  return cudaGetLastError();
}

}  // namespace grapevine
