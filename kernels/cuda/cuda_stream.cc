#include "kernels/cuda/cuda_stream.h"

#include <algorithm>
#include <cmath>
#include <thread>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/units.h"
#include "kernels/cuda/cuda_clip_norm.h"
#include "kernels/cuda/cuda_layerwise_step.h"
#include "kernels/cuda/cuda_passes.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/cuda_tensor_norms.h"
#include "kernels/passes/ordered_sum.h"
#include "kernels/vector/tensor_norms.h"

namespace grapevine {
namespace {

// A small network's step is over before a sleep would be, which takes 100 us at least.
constexpr auto kAttention = std::chrono::milliseconds(2);
constexpr auto kPause = std::chrono::microseconds(50);

// The runtime's numbers: the smaller, the earlier. It knows at least one.
int PriorityOf(StreamPriority priority) {
  int lowest = 0, highest = 0;
  if (cudaDeviceGetStreamPriorityRange(&lowest, &highest) != cudaSuccess) return 0;
  switch (priority) {
    case StreamPriority::kHigh:
      return highest;
    case StreamPriority::kNormal:
      return (lowest + highest) / 2;
    case StreamPriority::kLow:
      return lowest;
  }
  return lowest;
}

// The graph of what `calls` queue; null and an error, if they did what cannot be recorded.
cudaError_t Capture(cudaStream_t stream, const std::function<void()>& calls, cudaGraph_t* graph) {
  // Only this thread's calls count: others may allocate and wait meanwhile.
  const cudaError_t begun = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (begun != cudaSuccess) return begun;
  calls();
  return cudaStreamEndCapture(stream, graph);
}

}  // namespace

CudaEvent::CudaEvent(cudaStream_t stream, bool timed) {
  created_ = cudaEventCreateWithFlags(&event_, timed ? cudaEventDefault : cudaEventDisableTiming);
  if (created_ == cudaSuccess) created_ = cudaEventRecord(event_, stream);
}

CudaEvent::~CudaEvent() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

bool CudaEvent::passed() { return created_ != cudaSuccess || Query() != cudaErrorNotReady; }

// Not to be ready is no error, and not to be found by the next launch.
cudaError_t CudaEvent::Query() const {
  const cudaError_t state = cudaEventQuery(event_);
  if (state == cudaErrorNotReady) cudaGetLastError();
  return state;
}

absl::Status CudaEvent::Wait(std::chrono::nanoseconds timeout) {
  if (created_ != cudaSuccess) return CudaStatus(created_, "cudaEventRecord");
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t state = Query();
    if (state != cudaErrorNotReady) return CudaStatus(state, "work on the GPU");
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited >= timeout) {
      return absl::DeadlineExceededError(
          absl::StrCat("the GPU did not finish its work in ", Seconds(timeout), " s"));
    }
    if (waited < kAttention) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
}

std::chrono::nanoseconds CudaEvent::Since(const DeviceEvent& earlier) const {
  float milliseconds = 0;
  const auto& begin = static_cast<const CudaEvent&>(earlier);
  if (cudaEventElapsedTime(&milliseconds, begin.event_, event_) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  return std::chrono::nanoseconds(std::llround(1e6 * static_cast<double>(milliseconds)));
}

absl::StatusOr<std::unique_ptr<CudaStream>> CudaStream::Make(int device, StreamPriority priority) {
  RETURN_IF_ERROR(CudaStatus(cudaSetDevice(device), "cudaSetDevice"));
  cudaStream_t stream = nullptr;
  const cudaError_t made =
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, PriorityOf(priority));
  if (made != cudaSuccess) return CudaStatus(made, "cudaStreamCreate");
  return std::unique_ptr<CudaStream>(new CudaStream(device, stream));
}

CudaStream::~CudaStream() { cudaStreamDestroy(stream_); }

bool CudaStream::Enter() {
  if (!status().ok()) return false;
  Check(cudaSetDevice(device_), "cudaSetDevice");
  return status().ok();
}

void CudaStream::Check(cudaError_t error, std::string_view call) {
  if (error == cudaSuccess) return;
  MutexLock lock(mutex_);
  status_.Update(CudaStatus(error, call));
}

absl::Status CudaStream::status() const {
  MutexLock lock(mutex_);
  return status_;
}

std::shared_ptr<DeviceEvent> CudaStream::NewEvent(bool timed) {
  Check(cudaSetDevice(device_), "cudaSetDevice");
  return std::make_shared<CudaEvent>(stream_, timed);
}

bool CudaStream::Fits(size_t terms) {
  if (terms <= kMaxCudaTerms) return true;
  MutexLock lock(mutex_);
  status_.Update(absl::InvalidArgumentError(
      absl::StrCat("a mixture of ", terms, " vectors; a GPU takes ", kMaxCudaTerms,
                   " at most: use a topology with fewer neighbours, or --device=cpu")));
  return false;
}

void CudaStream::WaitFor(const DeviceEvent& event) {
  if (!Enter()) return;
  const auto& other = static_cast<const CudaEvent&>(event);
  Check(cudaStreamWaitEvent(stream_, other.get(), 0), "cudaStreamWaitEvent");
}

void CudaStream::Upload(const void* host, int64_t bytes, void* device) {
  if (!Enter()) return;
  Check(cudaMemcpyAsync(device, host, static_cast<size_t>(bytes), cudaMemcpyHostToDevice, stream_),
        "a copy to the GPU");
}

void CudaStream::Download(const void* device, int64_t bytes, void* host) {
  if (!Enter()) return;
  Check(cudaMemcpyAsync(host, device, static_cast<size_t>(bytes), cudaMemcpyDeviceToHost, stream_),
        "a copy from the GPU");
}

void CudaStream::WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) {
  if (!Enter() || !Fits(terms.size())) return;
  Check(CudaWeightedSum(terms, size, out, stream_),
        absl::StrCat("a sum of ", terms.size(), " vectors"));
}

void CudaStream::MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                            float* out) {
  if (!Enter() || !Fits(mix.size())) return;
  const cudaError_t queued = std::visit(
      [&](const auto& pass) { return CudaMixAndStep(mix, pass, size, out, stream_); }, step);
  Check(queued, absl::StrCat("a mixture of ", mix.size(), " vectors"));
}

void CudaStream::ClipNorm(float* vector, int64_t size, double limit, double* scratch) {
  if (!Enter()) return;
  Check(CudaClipNorm(vector, size, limit, scratch, stream_), "clipping a gradient");
}

int64_t CudaStream::SketchWorkspace(int64_t size) const {
  return static_cast<int64_t>(CudaSketchWorkspace(size));
}

void CudaStream::ComputeSketch(const float* vector, int64_t size, uint64_t seed, void* workspace,
                               double* sketch) {
  if (!Enter()) return;
  Check(CudaSketch(vector, size, seed, sketch, workspace, stream_), "a sketch");
}

int64_t CudaStream::NormWorkspace(int64_t size) const {
  return static_cast<int64_t>(CudaTensorNormsWorkspace(ChunksOf(size)));
}

void CudaStream::ComputeSquaredNorm(const float* vector, int64_t size, void* workspace,
                                    double* norm) {
  if (!Enter()) return;
  const TensorSpan whole{.offset = 0, .size = size, .first_chunk = 0};
  Check(CudaTensorSquaredNorms(vector, {&whole, 1}, norm, workspace, stream_), "a norm");
}

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
