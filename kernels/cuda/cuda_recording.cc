#include "kernels/cuda/cuda_recording.h"

#include "kernels/cuda/cuda_status.h"

namespace grapevine {
namespace {

// The graph of what `calls` queue; null and an error, if they did what cannot be recorded.
cudaError_t Capture(cudaStream_t stream, const std::function<void()>& calls, cudaGraph_t* graph) {
  // Only this thread's calls count: others may allocate and wait meanwhile.
  const cudaError_t begun = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (begun != cudaSuccess) return begun;
  calls();
  return cudaStreamEndCapture(stream, graph);
}

}  // namespace

absl::StatusOr<CudaRecording> CudaRecording::Of(cudaStream_t stream,
                                                const std::function<void()>& calls) {
  cudaGraph_t graph = nullptr;
  cudaError_t error = Capture(stream, calls, &graph);
  cudaGraphExec_t executable = nullptr;
  if (error == cudaSuccess) error = cudaGraphInstantiate(&executable, graph, 0);
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (error != cudaSuccess) {
    cudaGetLastError();  // not to be found by the next launch
    return CudaStatus(error, "recording a CUDA graph");
  }
  return CudaRecording(executable);
}

CudaRecording::~CudaRecording() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

}  // namespace grapevine
