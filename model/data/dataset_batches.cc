#include "model/data/dataset_batches.h"

#include <glog/logging.h>

#include <cstddef>
#include <utility>

#include "base/status_macros.h"

namespace grapevine {

DatasetBatches::DatasetBatches(std::shared_ptr<const Dataset> data, int64_t batch_size)
    : data_(std::move(data)), batch_size_(batch_size), table_(data_->traits().normalization) {
  CHECK_GT(batch_size_, 0);
}

absl::Status DatasetBatches::Fill(int64_t round, Batch* batch) {
  Begin(round, batch, &samples_);
  for (int64_t i = 0; i < batch->size; ++i) {
    RETURN_IF_ERROR(FillImage(round, i, samples_[static_cast<size_t>(i)], &scratch_, batch));
  }
  return absl::OkStatus();
}

void DatasetBatches::Begin(int64_t round, Batch* batch, std::vector<int32_t>* samples) {
  samples->clear();
  Choose(round, samples);
  batch->on_device = nullptr;
  batch->size = static_cast<int64_t>(samples->size());
  batch->images.resize(static_cast<size_t>(batch->size * shape().size()));
  batch->labels.clear();
  for (const int32_t sample : *samples) {
    batch->labels.push_back(data_->labels()[static_cast<size_t>(sample)]);
  }
}

absl::Status DatasetBatches::FillImage(int64_t round, int64_t index, int32_t sample,
                                       ImageScratch* scratch, Batch* batch) const {
  ASSIGN_OR_RETURN(const auto pixels, Pixels(round, index, sample, scratch));
  table_.Normalize(pixels, &batch->images[static_cast<size_t>(index * shape().size())]);
  return absl::OkStatus();
}

}  // namespace grapevine
