// A CUDA GPU as the project's Device, with its streams and events, recordings of the work that is
// queued on a stream, and the runtime's errors as Status.
//
// Thread-safe, except for CudaRecording.
#ifndef GRAPEVINE_KERNELS_CUDA_CUDA_GPU_H_
#define GRAPEVINE_KERNELS_CUDA_CUDA_GPU_H_

#include <cuda_runtime_api.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/cuda/caching_allocator.h"
#include "kernels/device/device.h"
#include "system/mutex.h"

namespace grapevine {

// Returns `error` of `call` as a Status, such as "cudaMalloc of 400000000 bytes: out of memory
// (cudaErrorMemoryAllocation)". The code is ResourceExhausted if memory is short, Unavailable if no
// device or driver is usable, and Internal otherwise.
absl::Status CudaStatus(cudaError_t error, std::string_view call);

class CudaEvent final : public DeviceEvent {
 public:
  // Records an event on `stream`, of the current device. Errors are returned by Wait.
  explicit CudaEvent(cudaStream_t stream, bool timed = false);
  ~CudaEvent() override;

  bool passed() override;
  // Polls the event, for 2 ms without a pause, then every 50 us.
  absl::Status Wait(std::chrono::nanoseconds timeout) override;
  std::chrono::nanoseconds Since(const DeviceEvent& earlier) const override;

  cudaEvent_t get() const { return event_; }

 private:
  cudaError_t Query() const;

  cudaEvent_t event_ = nullptr;
  cudaError_t created_ = cudaSuccess;
};

// A CUDA stream. Its methods make its device the calling thread's current one.
class CudaStream final : public DeviceStream {
 public:
  // Makes a stream that does not wait for the default stream.
  static absl::StatusOr<std::unique_ptr<CudaStream>> Make(int device, StreamPriority priority);
  ~CudaStream() override;

  std::shared_ptr<DeviceEvent> Record() override { return NewEvent(/*timed=*/false); }
  std::shared_ptr<DeviceEvent> RecordTimed() override { return NewEvent(/*timed=*/true); }
  void WaitFor(const DeviceEvent& event) override;
  void Upload(const void* host, int64_t bytes, void* device) override;
  void Download(const void* device, int64_t bytes, void* host) override;
  // Sums at most kMaxCudaTerms vectors; more are an error.
  void WeightedSum(std::span<const WeightedVector> terms, int64_t size, float* out) override;
  void MixAndStep(std::span<const WeightedVector> mix, const StepPass& step, int64_t size,
                  float* out) override;
  void ClipNorm(float* vector, int64_t size, double limit, double* scratch) override;
  int64_t SketchWorkspace(int64_t size) const override;
  void ComputeSketch(const float* vector, int64_t size, uint64_t seed, void* workspace,
                     double* sketch) override;
  int64_t NormWorkspace(int64_t size) const override;
  void ComputeSquaredNorm(const float* vector, int64_t size, void* workspace,
                          double* norm) override;
  absl::Status status() const override;

  int device() const { return device_; }
  cudaStream_t get() const { return stream_; }

 private:
  CudaStream(int device, cudaStream_t stream) : device_(device), stream_(stream) {}

  std::shared_ptr<DeviceEvent> NewEvent(bool timed);
  // Returns whether a kernel's arguments hold `terms` vectors; if not, notes an error.
  bool Fits(size_t terms);
  // Makes the device current. Returns false after an error.
  bool Enter();
  // Keeps `error` if it is the first one.
  void Check(cudaError_t error, std::string_view call);

  const int device_;
  const cudaStream_t stream_;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// Work that was captured on a stream, to be launched by one call: a CUDA graph. It may be destroyed
// while its work is in progress (cuGraphExecDestroy). Thread-compatible.
class CudaRecording {
 public:
  // Captures the work that `calls` queue on `stream`, of the current device; none of it runs.
  // `calls` must neither allocate nor wait, and no other thread may use the stream meanwhile.
  static absl::StatusOr<CudaRecording> Of(cudaStream_t stream, const std::function<void()>& calls);

  CudaRecording(CudaRecording&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  CudaRecording& operator=(CudaRecording&&) = delete;
  ~CudaRecording();

  cudaError_t Queue(cudaStream_t stream) const { return cudaGraphLaunch(graph_, stream); }

 private:
  explicit CudaRecording(cudaGraphExec_t graph) : graph_(graph) {}

  cudaGraphExec_t graph_;
};

class CudaGpu final : public Device {
 public:
  explicit CudaGpu(const GpuInfo& info);

  const std::string& name() const override { return name_; }
  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes, std::string_view what) override;
  absl::StatusOr<std::shared_ptr<void>> AllocatePinned(int64_t bytes,
                                                       std::string_view what) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream(StreamPriority priority) override;
  using Device::NewStream;

  int index() const { return index_; }

 private:
  const int index_;
  const std::string name_;
  const std::unique_ptr<MemorySource> memory_source_;
  const std::unique_ptr<MemorySource> pinned_source_;
  CachingAllocator memory_;
  CachingAllocator pinned_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_CUDA_CUDA_GPU_H_
