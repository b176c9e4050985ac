#include "node/control/joined_metrics.h"

namespace grapevine {

void AddEarlier(const control::NodeMetrics& earlier, control::NodeMetrics* report) {
  report->set_samples(report->samples() + earlier.samples());
  if (!earlier.has_train_loss_sum()) return;
  report->set_train_loss_sum(report->train_loss_sum() + earlier.train_loss_sum());
}

}  // namespace grapevine
