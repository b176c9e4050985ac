// A CUDA GPU as the project's Device, with its streams and events, captures of what is queued on a
// stream, and the runtime's errors as Status.
//
// Thread-safe, but for CudaRecording.
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

// OK, or "cudaMalloc of 400000000 bytes: out of memory (cudaErrorMemoryAllocation)":
// ResourceExhausted without memory, Unavailable without a usable device or driver,
// else Internal.
absl::Status CudaStatus(cudaError_t error, std::string_view call);

class CudaEvent final : public DeviceEvent {
 public:
  // On the current device. Recorded on `stream`; errors are returned by Wait.
  explicit CudaEvent(cudaStream_t stream, bool timed = false);
  ~CudaEvent() override;

  bool passed() override;
  // Polls: for 2 ms without a pause, then every 50 us.
  absl::Status Wait(std::chrono::nanoseconds timeout) override;
  std::chrono::nanoseconds Since(const DeviceEvent& earlier) const override;

  cudaEvent_t get() const { return event_; }

 private:
  cudaError_t Query() const;

  cudaEvent_t event_ = nullptr;
  cudaError_t created_ = cudaSuccess;
};

// Makes its device the calling thread's current one.
class CudaStream final : public DeviceStream {
 public:
  // A stream that does not wait for the default stream.
  static absl::StatusOr<std::unique_ptr<CudaStream>> Make(int device, StreamPriority priority);
  ~CudaStream() override;

  std::shared_ptr<DeviceEvent> Record() override { return NewEvent(/*timed=*/false); }
  std::shared_ptr<DeviceEvent> RecordTimed() override { return NewEvent(/*timed=*/true); }
  void WaitFor(const DeviceEvent& event) override;
  void Upload(const void* host, int64_t bytes, void* device) override;
  void Download(const void* device, int64_t bytes, void* host) override;
  // At most kMaxCudaTerms vectors.
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
  // False, and an error, for more vectors than a kernel's arguments hold.
  bool Fits(size_t terms);
  // Makes the device current; false after an error.
  bool Enter();
  // Keeps the first error.
  void Check(cudaError_t error, std::string_view call);

  const int device_;
  const cudaStream_t stream_;
  mutable Mutex mutex_;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
};

// Work that was captured on a stream, to be launched by one call: a CUDA graph.
// Thread-compatible. May be destroyed while its work is in progress (cuGraphExecDestroy).
class CudaRecording {
 public:
  // Captures what `calls` queue on `stream`, of the current device; none of it runs. They
  // neither allocate nor wait, and no other thread uses the stream meanwhile.
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
