#include "node/control/metrics_reporter.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "glog/logging.h"

namespace grapevine {

void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report) {
  report->set_samples(report->samples() + earlier.samples());
  if (earlier.has_noise()) {
    control::GradientNoise& sum = *report->mutable_noise();
    sum.set_variance(sum.variance() + earlier.noise().variance());
    sum.set_square(sum.square() + earlier.noise().square());
    sum.set_gradients(sum.gradients() + earlier.noise().gradients());
  }
  if (!earlier.has_train_loss_sum()) return;
  report->set_train_loss_sum(report->train_loss_sum() + earlier.train_loss_sum());
}

void MetricsReporter::Report(control::NodeMetrics metrics) {
  if (kept_) AddEarlier(*kept_, &metrics);
  kept_ = std::move(metrics);
  const absl::Status status = SendKept(Time::min());
  if (!status.ok()) VLOG(1) << "a measurement is kept: " << status.message();
}

absl::Status MetricsReporter::Tell(control::Report last, Time deadline) {
  absl::Status status = SendKept(deadline);
  if (status.ok()) status = send_(deadline, std::move(last));
  if (!absl::IsResourceExhausted(status)) return status;
  return WithFailure(absl::ResourceExhaustedError(absl::StrCat(
                         "the last measurements cannot be sent: ", std::string(status.message()),
                         " (--peer-timeout is how long that may last)")),
                     Failure::kPeerLost);
}

absl::Status MetricsReporter::SendKept(Time deadline) {
  if (!kept_) return absl::OkStatus();
  control::Report report;
  *report.mutable_metrics() = *kept_;
  absl::Status status = send_(deadline, std::move(report));
  if (status.ok()) kept_.reset();
  return status;
}

}  // namespace grapevine
