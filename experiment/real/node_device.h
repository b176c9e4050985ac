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

// Checks that the device of `config` can be used here. Errors are kDevice and say why.
absl::Status CheckDevice(const Config& config);

// The device of a node. It must outlive everything that computes on it.
class NodeDevice {
 public:
  // Opens the device. `local_rank` is the node's rank among the nodes of this machine, `timeout`
  // the time for one wait for the device. Errors are kDevice and say why.
  static absl::StatusOr<std::unique_ptr<NodeDevice>> Open(const Config& config, int local_rank,
                                                          std::chrono::nanoseconds timeout);

  // The contexts of gradients, and of evaluations, which run beside them.
  ComputeContext training() const { return ContextOn(gradients_); }
  ComputeContext evaluation() const { return ContextOn(evaluations_); }

  // Returns what makes the data path of a runner; empty on the CPU.
  MakeDataPath data_path() const;

 private:
  explicit NodeDevice(std::chrono::nanoseconds timeout) : timeout_(timeout) {}

  ComputeContext ContextOn(const std::unique_ptr<DeviceStream>& stream) const {
    return {device_.get(), stream.get(), precision_, batches_.get(), timeout_};
  }

  const std::chrono::nanoseconds timeout_;
  std::unique_ptr<Device> device_;  // null on the CPU
  std::unique_ptr<DeviceStream> gradients_;
  std::unique_ptr<DeviceStream> evaluations_;
  Precision precision_ = Precision::kFp32;
  std::unique_ptr<BatchMemory> batches_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_DEVICE_H_
