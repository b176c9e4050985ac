#include "kernels/cuda/cuda_gpu.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "kernels/cuda/cuda_passes.h"
#include "kernels/passes/ordered_sum.h"
#include "kernels/vector/norms.h"

namespace grapevine {
namespace {

absl::StatusCode CodeOf(cudaError_t error) {
  switch (error) {
    case cudaErrorMemoryAllocation:
      return absl::StatusCode::kResourceExhausted;
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorInitializationError:
    case cudaErrorDevicesUnavailable:
      return absl::StatusCode::kUnavailable;
    default:
      return absl::StatusCode::kInternal;
  }
}

}  // namespace

absl::Status CudaStatus(cudaError_t error, std::string_view call) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::Status(CodeOf(error),
                      absl::StrCat(std::string(call), ": ", cudaGetErrorString(error), " (",
                                   cudaGetErrorName(error), ")"));
}

namespace {

// A wait polls without sleeping for kAttention, then sleeps kPause between polls: a sleep takes
// 100 us at least, and a small network's step is over before that.
constexpr auto kAttention = std::chrono::milliseconds(2);
constexpr auto kPause = std::chrono::microseconds(50);

// Returns the runtime's number of a priority. Smaller numbers go first; the runtime has at least
// one.
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

// Captures the work that `calls` queue into `*graph`. If they do something that cannot be recorded,
// `*graph` is null and an error is returned.
cudaError_t Capture(cudaStream_t stream, const std::function<void()>& calls, cudaGraph_t* graph) {
  // Only this thread's calls count: other threads may allocate and wait meanwhile.
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

// cudaErrorNotReady is no error; it is cleared, so that the next launch does not find it.
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
    cudaGetLastError();  // clears the error, so that the next launch does not find it
    return CudaStatus(error, "recording a CUDA graph");
  }
  return CudaRecording(executable);
}

CudaRecording::~CudaRecording() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

namespace {

// The lowest compute capability for which this build has device code, times 10
// (third_party/cuda/cuda_library.bzl).
constexpr int kOldest = 75;

absl::Status NoUsableGpu(std::string_view why) {
  return absl::UnavailableError(absl::StrCat("no usable GPU: ", std::string(why)));
}

class DeviceMemory final : public MemorySource {
 public:
  explicit DeviceMemory(int device) : device_(device) {}

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    void* memory = nullptr;
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) error = cudaMalloc(&memory, static_cast<size_t>(bytes));
    if (error == cudaSuccess) return memory;
    cudaGetLastError();  // clears the error: a failed allocation is no state of the device
    return CudaStatus(error, absl::StrCat("cudaMalloc of ", bytes, " bytes"));
  }
  void Free(void* memory) override { cudaFree(memory); }

 private:
  const int device_;
};

// Pinned host memory. Any GPU can copy it; one GPU allocates it, so that no other gets a context.
class PinnedMemory final : public MemorySource {
 public:
  explicit PinnedMemory(int device) : device_(device) {}

  absl::StatusOr<void*> Allocate(int64_t bytes) override {
    void* memory = nullptr;
    cudaError_t error = cudaSetDevice(device_);
    if (error == cudaSuccess) {
      error = cudaHostAlloc(&memory, static_cast<size_t>(bytes), cudaHostAllocPortable);
    }
    if (error == cudaSuccess) return memory;
    cudaGetLastError();
    return CudaStatus(error, absl::StrCat("cudaHostAlloc of ", bytes, " bytes"));
  }
  void Free(void* memory) override { cudaFreeHost(memory); }

 private:
  const int device_;
};

// Returns why no GPU can be used. The runtime reports a missing driver as an old one.
std::string Reason(cudaError_t error) {
  if (error == cudaErrorInsufficientDriver) {
    return absl::StrCat("there is no NVIDIA driver, or it is older than CUDA ",
                        CUDART_VERSION / 1000, ".", CUDART_VERSION % 1000 / 10, " needs");
  }
  return std::string(CudaStatus(error, "cudaGetDeviceCount").message());
}

absl::StatusOr<GpuInfo> InfoOf(int index) {
  cudaDeviceProp properties;
  const cudaError_t error = cudaGetDeviceProperties(&properties, index);
  if (error != cudaSuccess) return CudaStatus(error, "cudaGetDeviceProperties");
  return GpuInfo{.index = index,
                 .name = properties.name,
                 .memory = static_cast<int64_t>(properties.totalGlobalMem),
                 .compute_capability = 10 * properties.major + properties.minor};
}

}  // namespace

absl::StatusOr<std::vector<GpuInfo>> FindGpus() {
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  if (counted != cudaSuccess) return NoUsableGpu(Reason(counted));
  std::vector<GpuInfo> gpus;
  std::string too_old;
  for (int index = 0; index < count; ++index) {
    absl::StatusOr<GpuInfo> gpu = InfoOf(index);
    if (!gpu.ok()) return NoUsableGpu(std::string(gpu.status().message()));
    if (gpu->compute_capability < kOldest) {
      absl::StrAppend(&too_old, too_old.empty() ? "" : ", ", gpu->name);
    } else {
      gpus.push_back(*std::move(gpu));
    }
  }
  if (!gpus.empty()) return gpus;
  if (too_old.empty()) return NoUsableGpu("the machine has none");
  return NoUsableGpu(
      absl::StrCat(too_old, " is older than compute capability ", kOldest / 10, ".", kOldest % 10));
}

absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int index) {
  ASSIGN_OR_RETURN(const std::vector<GpuInfo> gpus, FindGpus());
  for (const GpuInfo& gpu : gpus) {
    if (gpu.index == index) return std::make_unique<CudaGpu>(gpu);
  }
  return absl::NotFoundError(
      absl::StrCat("there is no usable GPU ", index, "; the machine has ", gpus.size()));
}

CudaGpu::CudaGpu(const GpuInfo& info)
    : index_(info.index),
      name_(absl::StrCat("cuda:", info.index, " (", info.name, ")")),
      memory_source_(std::make_unique<DeviceMemory>(info.index)),
      pinned_source_(std::make_unique<PinnedMemory>(info.index)),
      memory_(memory_source_.get()),
      pinned_(pinned_source_.get()) {}

absl::StatusOr<std::shared_ptr<void>> CudaGpu::Allocate(int64_t bytes, std::string_view what) {
  return memory_.Take(bytes, absl::StrCat(std::string(what), " on ", name_));
}

absl::StatusOr<std::shared_ptr<void>> CudaGpu::AllocatePinned(int64_t bytes,
                                                              std::string_view what) {
  return pinned_.Take(bytes, absl::StrCat(std::string(what), ", pinned for ", name_));
}

absl::StatusOr<std::unique_ptr<DeviceStream>> CudaGpu::NewStream(StreamPriority priority) {
  ASSIGN_OR_RETURN(std::unique_ptr<CudaStream> stream, CudaStream::Make(index_, priority));
  return stream;
}

}  // namespace grapevine
