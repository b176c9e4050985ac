// A copy of host memory on a device, which may still be on its way there.
#ifndef GRAPEVINE_KERNELS_DEVICE_DEVICE_COPY_H_
#define GRAPEVINE_KERNELS_DEVICE_DEVICE_COPY_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "kernels/device/device.h"

namespace grapevine {

// Thread-safe. Whoever reads it on a stream makes the stream wait for arrived(), and lets
// go of the copy when what was queued there is done. The host memory stays as it is until
// arrived() has passed.
class DeviceCopy {
 public:
  // Queues the copy of `bytes` bytes on `stream`, of `device`; both outlive it. Errors are
  // Device::Allocate's and DeviceStream::status's.
  static absl::StatusOr<std::shared_ptr<const DeviceCopy>> Make(Device& device,
                                                                DeviceStream& stream,
                                                                const void* host, int64_t bytes,
                                                                std::string_view what);
  // Its memory does not go back before the copy has ended.
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

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_DEVICE_DEVICE_COPY_H_
