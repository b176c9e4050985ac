#include "model/batch_norm_recalibration.h"

#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica) {
  const ReplicaLayout& layout = network.layout();
  const int64_t buffers = layout.size - layout.parameter_size;
  if (buffers == 0) return absl::OkStatus();
  Batch batch;
  std::vector<float> gradient(layout.size);
  std::vector<double> sum(buffers, 0.0);
  for (int64_t round = first_round; round < first_round + count; ++round) {
    batches.Fill(round, &batch);
    const absl::StatusOr<double> loss = network.Gradient(replica, batch, gradient.data());
    if (!loss.ok()) return loss.status();
    for (int64_t i = 0; i < buffers; ++i) sum[i] += gradient[layout.parameter_size + i];
  }
  for (int64_t i = 0; i < buffers; ++i) {
    replica[layout.parameter_size + i] = static_cast<float>(sum[i] / static_cast<double>(count));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
