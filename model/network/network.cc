#include "model/network/network.h"

#include <utility>

#include "base/status.h"

namespace grapevine {
namespace {

constexpr int64_t kElement = sizeof(float);

}  // namespace

absl::StatusOr<std::unique_ptr<HostNetwork>> HostNetwork::Make(std::unique_ptr<Network> network,
                                                               const ComputeContext& context) {
  ASSIGN_OR_RETURN(
      std::shared_ptr<void> memory,
      context.device->Allocate(2 * network->layout().size * kElement, "a model that is evaluated"));
  return std::unique_ptr<HostNetwork>(
      new HostNetwork(std::move(network), context, std::move(memory)));
}

HostNetwork::HostNetwork(std::unique_ptr<Network> network, const ComputeContext& context,
                         std::shared_ptr<void> memory)
    : network_(std::move(network)),
      stream_(context.stream),
      timeout_(context.timeout),
      memory_(std::move(memory)),
      replica_(static_cast<float*>(memory_.get())),
      gradient_(replica_ + layout().size) {}

absl::Status HostNetwork::Upload(const float* replica) {
  if (replica != uploaded_) stream_->Upload(replica, layout().size * kElement, replica_);
  uploaded_ = replica == held_ ? replica : nullptr;
  return stream_->status();
}

absl::Status HostNetwork::DownloadGradient(int64_t from, float* gradient) {
  stream_->Download(gradient_ + from, (layout().size - from) * kElement, gradient + from);
  return stream_->Finish(timeout_);
}

absl::StatusOr<double> HostNetwork::Gradient(const float* replica, const Batch& batch,
                                             float* gradient) {
  RETURN_IF_ERROR(Upload(replica));
  ASSIGN_OR_RETURN(const double loss, network_->Gradient(replica_, batch, gradient_));
  RETURN_IF_ERROR(DownloadGradient(0, gradient));
  return loss;
}

absl::Status HostNetwork::Statistics(const float* replica, const Batch& batch, float* statistics) {
  RETURN_IF_ERROR(Upload(replica));
  RETURN_IF_ERROR(network_->Statistics(replica_, batch, gradient_));
  return DownloadGradient(layout().parameter_size, statistics);
}

absl::StatusOr<EvaluationSums> HostNetwork::Evaluate(const float* replica, const Batch& batch) {
  RETURN_IF_ERROR(Upload(replica));
  return network_->Evaluate(replica_, batch);
}

}  // namespace grapevine
