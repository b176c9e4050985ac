#include "kernels/cuda/cuda_stream.h"

#include <algorithm>
#include <cmath>
#include <thread>

#include "absl/strings/str_cat.h"
#include "kernels/cuda/cuda_mix_and_step.h"
#include "kernels/cuda/cuda_status.h"
#include "kernels/cuda/cuda_weighted_sum.h"

namespace grapevine {
namespace {

// Short kernels are over before a sleep would be.
constexpr int kQuickLooks = 200;
constexpr auto kPause = std::chrono::microseconds(50);

}  // namespace

CudaEvent::CudaEvent(cudaStream_t stream) {
  created_ = cudaEventCreate(&event_);
  if (created_ == cudaSuccess) created_ = cudaEventRecord(event_, stream);
}

CudaEvent::~CudaEvent() {
  if (event_ != nullptr) cudaEventDestroy(event_);
}

bool CudaEvent::passed() {
  return created_ != cudaSuccess || cudaEventQuery(event_) != cudaErrorNotReady;
}

absl::Status CudaEvent::Wait(std::chrono::nanoseconds timeout) {
  if (created_ != cudaSuccess) return CudaStatus(created_, "cudaEventRecord");
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (int looks = 0;; ++looks) {
    const cudaError_t state = cudaEventQuery(event_);
    if (state != cudaErrorNotReady) return CudaStatus(state, "work on the GPU");
    if (std::chrono::steady_clock::now() >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat("the GPU did not finish its work in ",
                       std::chrono::duration<double>(timeout).count(), " s"));
    }
    if (looks < kQuickLooks) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kPause);
    }
  }
}

std::chrono::nanoseconds CudaEvent::Since(const DeviceEvent& earlier) const {
  float milliseconds = 0;
  const auto& begin = static_cast<const CudaEvent&>(earlier);
  if (cudaEventElapsedTime(&milliseconds, begin.event_, event_) != cudaSuccess) return {};
  return std::chrono::nanoseconds(std::llround(1e6 * static_cast<double>(milliseconds)));
}

absl::StatusOr<std::unique_ptr<CudaStream>> CudaStream::Make(int device) {
  if (absl::Status status = CudaStatus(cudaSetDevice(device), "cudaSetDevice"); !status.ok()) {
    return status;
  }
  cudaStream_t stream = nullptr;
  const cudaError_t made = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
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

std::shared_ptr<DeviceEvent> CudaStream::Record() {
  Check(cudaSetDevice(device_), "cudaSetDevice");
  return std::make_shared<CudaEvent>(stream_);
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
  if (!Enter()) return;
  Check(CudaWeightedSum(terms, size, out, stream_),
        absl::StrCat("a sum of ", terms.size(), " vectors"));
}

void CudaStream::MixAndStep(std::span<const WeightedVector> mix, const SgdStep& step, int64_t size,
                            float* out) {
  if (!Enter()) return;
  Check(CudaMixAndStep(mix, step, size, out, stream_),
        absl::StrCat("a mixture of ", mix.size(), " vectors"));
}

}  // namespace grapevine
