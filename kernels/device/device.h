// A device with memory of its own, as the rest of the project sees it, and the GPUs of this
// machine: without CUDA's headers, so that its users can be built and tested where there is no GPU.
//
// Work is queued on streams. A stream does its work in the order in which it was queued;
// between streams only Record and WaitFor establish an order. kernels/cuda/ has the real
// device, tests/testing/emulated_device.h one in CPU memory that does everything as late as
// allowed.
//
// FindGpus and OpenGpu have two implementations, of which a build has one: CUDA's, and one that
// finds none (no_gpu.cc).
#ifndef GRAPEVINE_KERNELS_DEVICE_DEVICE_H_
#define GRAPEVINE_KERNELS_DEVICE_DEVICE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/vector/vector_passes.h"

namespace grapevine {

// A point in the work of a stream. Thread-safe.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;

  // Whether all work before it is done; on a failed device, true.
  virtual bool passed() = 0;
  // Waits for it on this thread. The device's error, if it failed;
  // DeadlineExceeded when the work takes longer.
  virtual absl::Status Wait(std::chrono::nanoseconds timeout) = 0;
  // The time from `earlier` to this one, as measured by the device; both are timed and have
  // passed.
  virtual std::chrono::nanoseconds Since(const DeviceEvent& earlier) const = 0;
};

// Which stream's work a device does first.
enum class StreamPriority { kHigh, kNormal, kLow };

// Calls return at once. Thread-safe; what two threads queue is ordered somehow. The arguments
// of a call stay alive, and host memory unchanged, until the work is done.
class DeviceStream : public VectorPasses {
 public:
  // An event after all that was queued so far.
  virtual std::shared_ptr<DeviceEvent> Record() = 0;
  // The same, for DeviceEvent::Since.
  virtual std::shared_ptr<DeviceEvent> RecordTimed() = 0;
  // Everything queued from now on waits for `event`, of any stream.
  virtual void WaitFor(const DeviceEvent& event) = 0;

  // Copies between pinned host memory and the device's.
  virtual void Upload(const void* host, int64_t bytes, void* device) = 0;
  virtual void Download(const void* device, int64_t bytes, void* host) = 0;

  // kernels/passes/sketch.h of a vector into the kSketchSize numbers of `sketch`, with a
  // workspace of this many bytes. All pointers are the device's.
  virtual int64_t SketchWorkspace(int64_t size) const = 0;
  virtual void ComputeSketch(const float* vector, int64_t size, uint64_t seed, void* workspace,
                             double* sketch) = 0;
  // The sum of a vector's squares, with the CPU's bits (kernels/vector/norms.h), into *norm,
  // likewise.
  virtual int64_t NormWorkspace(int64_t size) const = 0;
  virtual void ComputeSquaredNorm(const float* vector, int64_t size, void* workspace,
                                  double* norm) = 0;

  // The first error of queueing; later calls do nothing. Errors of the work itself are returned
  // by DeviceEvent::Wait.
  virtual absl::Status status() const = 0;

  // Waits for all that was queued so far; its first error, of queueing or of the work.
  absl::Status Finish(std::chrono::nanoseconds timeout) {
    absl::Status done = Record()->Wait(timeout);
    return done.ok() ? status() : done;
  }
};

// Thread-safe. Outlives its streams and all memory that it gives.
class Device {
 public:
  virtual ~Device() = default;

  // "cuda:0 (NVIDIA H200)"
  virtual const std::string& name() const = 0;

  // Device memory, and pinned host memory; aligned to 256 bytes, uninitialized. Freed when the
  // last holder drops it, which must not be before the work that uses it is done.
  // ResourceExhausted names `what` it was for.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes, std::string_view what) = 0;
  virtual absl::StatusOr<std::shared_ptr<void>> AllocatePinned(int64_t bytes,
                                                               std::string_view what) = 0;

  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream(StreamPriority priority) = 0;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() {
    return NewStream(StreamPriority::kNormal);
  }
};

// A copy of host memory on a device, which may still be in progress. Thread-safe. A reader
// makes its stream wait for arrived(), and drops the copy when the work queued there is done.
// The host memory must not change until arrived() has passed.
class DeviceCopy {
 public:
  // Queues the copy of `bytes` bytes on `stream`, of `device`; both outlive it. Errors are
  // Device::Allocate's and DeviceStream::status's.
  static absl::StatusOr<std::shared_ptr<const DeviceCopy>> Make(Device& device,
                                                                DeviceStream& stream,
                                                                const void* host, int64_t bytes,
                                                                std::string_view what);
  // Its memory is not freed before the copy has ended.
  ~DeviceCopy();
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  // The device's memory.
  const void* get() const { return memory_.get(); }
  DeviceEvent& arrived() const { return *arrived_; }

 private:
  DeviceCopy(std::shared_ptr<void> memory, std::shared_ptr<DeviceEvent> arrived);

  const std::shared_ptr<void> memory_;
  const std::shared_ptr<DeviceEvent> arrived_;
};

// A GPU of this machine.
struct GpuInfo {
  int index = 0;               // as the runtime counts
  std::string name;            // "NVIDIA H200"
  int64_t memory = 0;          // bytes
  int compute_capability = 0;  // 90 is 9.0
};

// At least one, in the runtime's order. Unavailable, with the reason: no GPU, no driver, a
// driver too old for this build, or a build without CUDA.
absl::StatusOr<std::vector<GpuInfo>> FindGpus();

// Errors as FindGpus'; NotFound for any other index.
absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int index);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_DEVICE_DEVICE_H_
