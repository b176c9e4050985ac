// The device on which a node computes, opened as configured.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_DEVICE_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_DEVICE_H_

#include <chrono>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/device/device.h"
#include "model/network/compute_context.h"
#include "node/runner/runner.h"
#include "run/config/config.pb.h"

namespace grapevine {

// OK if the device of `config` can be used here; else kDevice, and why.
absl::Status CheckDevice(const Config& config);

// Outlives everything that computes on it.
class NodeDevice {
 public:
  // `local_rank`: among the nodes of this machine; `timeout`: for one wait for the device. Errors
  // as CheckDevice's.
  static absl::StatusOr<std::unique_ptr<NodeDevice>> Open(const Config& config, int local_rank,
                                                          std::chrono::nanoseconds timeout);

  // For gradients, and for evaluations, which run beside them.
  ComputeContext training() const { return ContextOn(gradients_); }
  ComputeContext evaluation() const { return ContextOn(evaluations_); }

  // For a runner; empty on the CPU.
  MakeDataPath data_path() const;

 private:
  explicit NodeDevice(std::chrono::nanoseconds timeout) : timeout_(timeout) {}

  ComputeContext ContextOn(const std::unique_ptr<DeviceStream>& stream) const {
    return {device_.get(), stream.get(), precision_, batches_.get(), timeout_};
  }

  const std::chrono::nanoseconds timeout_;
  std::unique_ptr<Device> device_;  // null: the CPU
  std::unique_ptr<DeviceStream> gradients_;
  std::unique_ptr<DeviceStream> evaluations_;
  Precision precision_ = Precision::kFp32;
  std::unique_ptr<BatchMemory> batches_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_DEVICE_H_
