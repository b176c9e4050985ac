#include "experiment/real/node_device.h"

#include <glog/logging.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/device/device.h"
#include "kernels/tensor/tensor_device.h"
#include "model/data/batch.h"
#include "node/runner/device_data_path.h"
#include "run/config/config_values.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

absl::Status Unusable(const Config& config, const absl::Status& why) {
  return WithFailure(absl::Status(why.code(), absl::StrCat("--device=", config.device(), ": ",
                                                           std::string(why.message()))),
                     Failure::kDevice);
}

}  // namespace

absl::Status CheckDevice(const Config& config) {
  ASSIGN_OR_RETURN(const DeviceSpec spec, ParseDevice(config.device()));
  if (!spec.cuda) return absl::OkStatus();
  const SignalsAreForOthers meanwhile;  // a driver may start threads
  const absl::StatusOr<std::vector<GpuInfo>> gpus = FindGpus();
  return gpus.ok() ? absl::OkStatus() : Unusable(config, gpus.status());
}

absl::StatusOr<std::unique_ptr<NodeDevice>> NodeDevice::Open(const Config& config, int local_rank,
                                                             std::chrono::nanoseconds timeout) {
  ASSIGN_OR_RETURN(const DeviceSpec spec, ParseDevice(config.device()));
  std::unique_ptr<NodeDevice> opened(new NodeDevice(timeout));
  if (!spec.cuda) return opened;
  const absl::StatusOr<std::vector<GpuInfo>> gpus = FindGpus();
  if (!gpus.ok()) return Unusable(config, gpus.status());
  absl::StatusOr<std::unique_ptr<Device>> device =
      OpenGpu(spec.Gpu(local_rank, static_cast<int>(gpus->size())));
  if (!device.ok()) return Unusable(config, device.status());
  opened->device_ = *std::move(device);
  // run/config/config_resolve.cc lets no other name pass.
  opened->precision_ = PrecisionNamed(config.precision()).value();
  opened->batches_ = std::make_unique<PinnedBatchMemory>(opened->device_.get());
  for (const auto& [stream, priority] : {std::pair(&opened->gradients_, StreamPriority::kNormal),
                                         std::pair(&opened->evaluations_, StreamPriority::kLow)}) {
    absl::StatusOr<std::unique_ptr<DeviceStream>> made = opened->device_->NewStream(priority);
    if (!made.ok()) return Unusable(config, made.status());
    *stream = *std::move(made);
  }
  LOG(INFO) << "computing on " << opened->device_->name();
  return opened;
}

MakeDataPath NodeDevice::data_path() const {
  if (device_ == nullptr) return {};
  const DeviceDataPathOptions options{
      .device = device_.get(), .gradients = gradients_.get(), .timeout = timeout_};
  return [options](OnPass on_pass, std::function<void(absl::Status why)> on_failure)
             -> absl::StatusOr<std::unique_ptr<DataPath>> {
    return DeviceDataPath::Make(options, std::move(on_pass), std::move(on_failure));
  };
}

}  // namespace grapevine
