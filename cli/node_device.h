// The device on which a node computes, opened as its configuration says.
#ifndef GRAPEVINE_CLI_NODE_DEVICE_H_
#define GRAPEVINE_CLI_NODE_DEVICE_H_

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "model/compute_place.h"
#include "node/runner.h"
#include "run/config.pb.h"

namespace grapevine {

// OK when the device of `config` can be used here; else kDevice, and why.
absl::Status CheckDevice(const Config& config);

// Outlives whatever computes on it.
class NodeDevice {
 public:
  // `local_rank`: among the nodes of this machine. Errors as CheckDevice's.
  static absl::StatusOr<std::unique_ptr<NodeDevice>> Open(const Config& config, int local_rank);

  // Of gradients; and of evaluations, which run beside them.
  ComputePlace training() const { return {device_.get(), gradients_.get()}; }
  ComputePlace assessment() const { return {device_.get(), evaluations_.get()}; }

  // What a runner needs; nothing on the CPU.
  MakeDataPath data_path(std::chrono::nanoseconds timeout) const;

 private:
  NodeDevice() = default;

  std::unique_ptr<Device> device_;  // null: the CPU
  std::unique_ptr<DeviceStream> gradients_;
  std::unique_ptr<DeviceStream> evaluations_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_NODE_DEVICE_H_
