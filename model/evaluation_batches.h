// A whole data set once, in its own order and without augmentation: what a model
// is evaluated on.
//
// Thread-safety: immutable, safe from any thread.
#ifndef GRAPEVINE_MODEL_EVALUATION_BATCHES_H_
#define GRAPEVINE_MODEL_EVALUATION_BATCHES_H_

#include <cstdint>
#include <memory>

#include "model/batch.h"
#include "model/dataset.h"
#include "model/pixel_table.h"

namespace grapevine {

class EvaluationBatches {
 public:
  // batch_size > 0; the last batch may be smaller.
  EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size);

  // Batches that cover the data set.
  int64_t count() const { return (data_->size() + batch_size_ - 1) / batch_size_; }
  // 0 <= i < count(). Reuses the memory of `batch`.
  void Fill(int64_t i, Batch* batch) const;

 private:
  std::shared_ptr<const Dataset> data_;
  int64_t batch_size_;
  PixelTable table_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_EVALUATION_BATCHES_H_
