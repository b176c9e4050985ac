#include "kernels/device/device.h"

#include <glog/logging.h>

#include <chrono>
#include <utility>

#include "base/status.h"

namespace grapevine {
namespace {

// A copy takes milliseconds, unless the device hangs.
constexpr auto kLinger = std::chrono::seconds(10);

}  // namespace

absl::StatusOr<std::shared_ptr<const DeviceCopy>> DeviceCopy::Make(Device& device,
                                                                   DeviceStream& stream,
                                                                   const void* host, int64_t bytes,
                                                                   std::string_view what) {
  ASSIGN_OR_RETURN(std::shared_ptr<void> memory, device.Allocate(bytes, what));
  stream.Upload(host, bytes, memory.get());
  std::shared_ptr<const DeviceCopy> copy(new DeviceCopy(std::move(memory), stream.Record()));
  RETURN_IF_ERROR(stream.status());
  return copy;
}

DeviceCopy::DeviceCopy(std::shared_ptr<void> memory, std::shared_ptr<DeviceEvent> arrived)
    : memory_(std::move(memory)), arrived_(std::move(arrived)) {}

DeviceCopy::~DeviceCopy() {
  const absl::Status status = arrived_->Wait(kLinger);
  if (!status.ok()) LOG(ERROR) << "a copy that nobody wants any more: " << status.message();
}

}  // namespace grapevine
