// A device in CPU memory that works as late as it is allowed to, and in any order that the
// streams allow: code that forgot to wait finds the work undone.
//
// Nothing runs until somebody waits for an event or asks whether it has passed; then work of
// randomly drawn streams runs, one piece after the other, on that thread.
#ifndef GRAPEVINE_TESTS_TESTING_EMULATED_DEVICE_H_
#define GRAPEVINE_TESTS_TESTING_EMULATED_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "kernels/device/device.h"

namespace grapevine::testing {

struct EmulatedDeviceOptions {
  uint64_t seed = 1;  // of the order
  // Bytes of device memory and of pinned memory, and the number of pieces of work after which the
  // device is lost.
  int64_t memory = int64_t{1} << 30;
  int64_t pinned = int64_t{1} << 30;
  int64_t work = int64_t{1} << 40;
};

class EmulatedDevice final : public Device {
 public:
  struct State;

  explicit EmulatedDevice(const EmulatedDeviceOptions& options);
  ~EmulatedDevice() override;

  const std::string& name() const override { return name_; }
  // Filled with NaNs.
  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes, std::string_view what) override;
  absl::StatusOr<std::shared_ptr<void>> AllocatePinned(int64_t bytes,
                                                       std::string_view what) override;
  absl::StatusOr<std::unique_ptr<DeviceStream>> NewStream(StreamPriority priority) override;
  using Device::NewStream;

  // How often `stream` was told to wait for `other`; streams are counted from 0 in the order of
  // their creation.
  int waits(int stream, int other) const;

  // Copies of bytes so far.
  int64_t uploaded() const;
  int64_t downloaded() const;

 private:
  const std::string name_ = "emulated device";
  const std::shared_ptr<State> state_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_EMULATED_DEVICE_H_
