// Work that was queued on a stream once, to be queued again by one call: a CUDA graph.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_RECORDING_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_RECORDING_H_

#include <cuda_runtime_api.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

// Thread-compatible. May go while its work is under way (cuGraphExecDestroy).
class CudaRecording {
 public:
  // Records what `calls` queue on `stream`, of the current device; nothing of it runs.
  // They neither allocate nor wait, and no other thread uses the stream meanwhile.
  static absl::StatusOr<CudaRecording> Of(cudaStream_t stream, const std::function<void()>& calls);

  CudaRecording(CudaRecording&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  CudaRecording& operator=(CudaRecording&&) = delete;
  ~CudaRecording();

  cudaError_t Queue(cudaStream_t stream) const { return cudaGraphLaunch(graph_, stream); }

 private:
  explicit CudaRecording(cudaGraphExec_t graph) : graph_(graph) {}

  cudaGraphExec_t graph_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_RECORDING_H_
