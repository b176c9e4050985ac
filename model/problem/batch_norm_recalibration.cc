#include "model/problem/batch_norm_recalibration.h"

#include <vector>

#include "base/status_macros.h"
#include "kernels/vector/aligned_buffer.h"

namespace grapevine {

absl::Status RecalibrateBatchNorm(Network& network, BatchSource& batches, int64_t first_round,
                                  int64_t count, float* replica, const BetweenBatches& between) {
  const ReplicaLayout& layout = network.layout();
  const int64_t buffers = layout.size - layout.parameter_size;
  if (buffers == 0) return absl::OkStatus();
  Batch batch;
  // Uninitialized, and touched in the buffer section alone.
  const SharedVector statistics = NewSharedVector(layout.size);
  std::vector<double> sum(buffers, 0.0);
  const HeldReplica held(network, replica);
  for (int64_t round = first_round; round < first_round + count; ++round) {
    RETURN_IF_ERROR(MayGoOn(between));
    RETURN_IF_ERROR(batches.Fill(round, &batch));
    RETURN_IF_ERROR(network.Statistics(replica, batch, statistics.data.get()));
    for (int64_t i = 0; i < buffers; ++i) sum[i] += statistics.data[layout.parameter_size + i];
  }
  for (int64_t i = 0; i < buffers; ++i) {
    replica[layout.parameter_size + i] = static_cast<float>(sum[i] / static_cast<double>(count));
  }
  return absl::OkStatus();
}

}  // namespace grapevine
