#include "model/data/evaluation_batches.h"

#include <glog/logging.h>

#include <algorithm>
#include <utility>

namespace grapevine {

EvaluationBatches::EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size)
    : DatasetBatches(std::move(data), batch_size) {}

void EvaluationBatches::Choose(int64_t round, std::vector<int32_t>* samples) {
  CHECK(0 <= round && round < count());
  const int64_t end = std::min((round + 1) * batch_size(), data().size());
  for (int64_t i = round * batch_size(); i < end; ++i) samples->push_back(static_cast<int32_t>(i));
}

absl::StatusOr<std::span<const uint8_t>> EvaluationBatches::Pixels(int64_t round, int64_t index,
                                                                   int32_t sample,
                                                                   ImageScratch* scratch) const {
  return data().Image(sample, scratch);
}

}  // namespace grapevine
