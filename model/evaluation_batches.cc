#include "model/evaluation_batches.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace grapevine {

EvaluationBatches::EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size)
    : data_(std::move(data)), batch_size_(batch_size), table_(data_->traits().normalization) {
  CHECK_GT(batch_size_, 0);
}

void EvaluationBatches::Fill(int64_t i, Batch* batch) const {
  CHECK(0 <= i && i < count());
  const int64_t image = data_->traits().shape.size();
  const int64_t begin = i * batch_size_;
  batch->size = std::min(batch_size_, data_->size() - begin);
  batch->images.resize(static_cast<size_t>(batch->size * image));
  batch->labels.assign(data_->labels().begin() + begin,
                       data_->labels().begin() + begin + batch->size);
  for (int64_t j = 0; j < batch->size; ++j) {
    table_.Normalize(data_->pixels(begin + j), &batch->images[static_cast<size_t>(j * image)]);
  }
}

}  // namespace grapevine
