// A device with memory of its own, as the rest of the project sees it, and the GPUs of this
// machine. This header does without CUDA's headers, so that its users can be built and tested on
// machines without a GPU.
//
// Work is queued on streams. A stream does its work in the order in which it was queued; between
// streams, only Record and WaitFor establish an order. kernels/cuda/ has the real device;
// tests/testing/emulated_device.h has one in CPU memory that does everything as late as allowed.
//
// FindGpus and OpenGpu have two implementations: CUDA's, and one that finds no GPUs (no_gpu.cc). A
// build links one of them.
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

  // Returns whether all work before the event is done; true on a failed device.
  virtual bool passed() = 0;
  // Blocks this thread until the event has passed. Returns the device's error if it failed, and
  // DeadlineExceeded if the work takes longer than `timeout`.
  virtual absl::Status Wait(std::chrono::nanoseconds timeout) = 0;
  // Returns the time from `earlier` to this event, as measured by the device. Both events must be
  // timed and have passed.
  virtual std::chrono::nanoseconds Since(const DeviceEvent& earlier) const = 0;
};

// The priority of a stream: a device does the work of a stream of higher priority first.
enum class StreamPriority { kHigh, kNormal, kLow };

// Calls return at once. The arguments of a call must stay alive, and host memory unchanged, until
// the work is done. Thread-safe; the work that two threads queue is in an arbitrary order.
class DeviceStream : public VectorPasses {
 public:
  // Returns an event after all work that was queued so far.
  virtual std::shared_ptr<DeviceEvent> Record() = 0;
  // Returns an event like Record's that is timed, for DeviceEvent::Since.
  virtual std::shared_ptr<DeviceEvent> RecordTimed() = 0;
  // Makes all work that is queued from now on wait for `event`, of any stream.
  virtual void WaitFor(const DeviceEvent& event) = 0;

  // Copy `bytes` bytes between pinned host memory and the device's memory.
  virtual void Upload(const void* host, int64_t bytes, void* device) = 0;
  virtual void Download(const void* device, int64_t bytes, void* host) = 0;

  // Computes the sketch of a vector (kernels/passes/sketch.h) into the kSketchSize numbers of
  // `sketch`, with a workspace of SketchWorkspace bytes. All pointers are device memory.
  virtual int64_t SketchWorkspace(int64_t size) const = 0;
  virtual void ComputeSketch(const float* vector, int64_t size, uint64_t seed, void* workspace,
                             double* sketch) = 0;
  // Computes the sum of a vector's squares, with the CPU's bits (kernels/vector/norms.h), into
  // *norm, with a workspace of NormWorkspace bytes. All pointers are device memory.
  virtual int64_t NormWorkspace(int64_t size) const = 0;
  virtual void ComputeSquaredNorm(const float* vector, int64_t size, void* workspace,
                                  double* norm) = 0;

  // Returns the first error of queueing; after it, calls do nothing. Errors of the work itself are
  // returned by DeviceEvent::Wait.
  virtual absl::Status status() const = 0;

  // Waits for all work that was queued so far. Returns the error of the work, or else the first
  // error of queueing.
  absl::Status Finish(std::chrono::nanoseconds timeout) {
    absl::Status done = Record()->Wait(timeout);
    return done.ok() ? status() : done;
  }
};

// A device must outlive its streams and all memory that it allocates. Thread-safe.
class Device {
 public:
  virtual ~Device() = default;

  // "cuda:0 (NVIDIA H200)"
  virtual const std::string& name() const = 0;

  // Allocate device memory, and pinned host memory: uninitialized, and aligned to 256 bytes. The
  // memory is freed when the last holder drops it; keep it until the work that uses it is done.
  // ResourceExhausted if memory is short; the message says `what` it was for.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes, std::string_view what) = 0;
  virtual absl::StatusOr<std::shared_ptr<void>> AllocatePinned(int64_t bytes,
                                                               std::string_view what) = 0;

  virtual absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream(StreamPriority priority) = 0;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream() {
    return NewStream(StreamPriority::kNormal);
  }
};

// A copy of host memory on a device; copying may still be in progress. A reader makes its stream
// wait for arrived(), and drops the copy when the work queued on that stream is done. The host
// memory must not change until arrived() has passed. Thread-safe.
class DeviceCopy {
 public:
  // Queues the copy of `bytes` bytes on `stream`, a stream of `device`. Both must outlive the copy.
  // Returns errors of Device::Allocate and of DeviceStream::status.
  static absl::StatusOr<std::shared_ptr<const DeviceCopy>> Make(Device& device,
                                                                DeviceStream& stream,
                                                                const void* host, int64_t bytes,
                                                                std::string_view what);
  // Waits for the end of the copy before the memory is freed.
  ~DeviceCopy();
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;

  // Returns the copy's address in device memory.
  const void* get() const { return memory_.get(); }
  DeviceEvent& arrived() const { return *arrived_; }

 private:
  DeviceCopy(std::shared_ptr<void> memory, std::shared_ptr<DeviceEvent> arrived);

  const std::shared_ptr<void> memory_;
  const std::shared_ptr<DeviceEvent> arrived_;
};

// A GPU of this machine.
struct GpuInfo {
  int index = 0;               // in the order of the CUDA runtime
  std::string name;            // "NVIDIA H200"
  int64_t memory = 0;          // bytes
  int compute_capability = 0;  // 90 is 9.0
};

// Returns the usable GPUs, at least one, in the runtime's order. Unavailable, with the reason, if
// the machine has no usable GPU or no driver, the driver is too old for this build, or the build
// is without CUDA.
absl::StatusOr<std::vector<GpuInfo>> FindGpus();

// Opens the GPU whose GpuInfo::index is `index`. Returns the errors of FindGpus, and NotFound if no
// usable GPU has this index.
absl::StatusOr<std::unique_ptr<Device>> OpenGpu(int index);

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_DEVICE_DEVICE_H_
