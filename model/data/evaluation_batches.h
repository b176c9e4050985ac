// A whole data set once, in its own order and without augmentation: what a model
// is evaluated on.
#ifndef GRAPEVINE_MODEL_DATA_EVALUATION_BATCHES_H_
#define GRAPEVINE_MODEL_DATA_EVALUATION_BATCHES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"

namespace grapevine {

// Thread-compatible. Rounds are 0 .. count() - 1.
class EvaluationBatches final : public DatasetBatches {
 public:
  // batch_size > 0; the last batch may be smaller.
  EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size);

  // Batches that cover the data set.
  int64_t count() const { return (data().size() + batch_size() - 1) / batch_size(); }

 private:
  void Choose(int64_t round, std::vector<int32_t>* samples) override;
  absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index, int32_t sample,
                                                  ImageScratch* scratch) const override;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_EVALUATION_BATCHES_H_
