// Batches of a data set's images: what choosing samples and filling batches have in
// common, for training and for evaluation.
#ifndef GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
#define GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "model/data/pixel_table.h"

namespace grapevine {

// Thread-compatible, but for FillImage.
class DatasetBatches : public BatchSource {
 public:
  ImageShape shape() const override { return data_->traits().shape; }
  int64_t classes() const override { return data_->traits().classes; }
  int64_t batch_size() const override { return batch_size_; }

  // Begin, and FillImage for every image.
  absl::Status Fill(int64_t round, Batch* batch) final;

  // Gives `batch` its size and its labels, and names the samples that it has.
  void Begin(int64_t round, Batch* batch, std::vector<int32_t>* samples);
  // Writes the image of `sample` into the place `index` of a batch that has begun.
  // From any thread, for different places also at once. Errors are the data set's.
  absl::Status FillImage(int64_t round, int64_t index, int32_t sample, ImageScratch* scratch,
                         Batch* batch) const;

 protected:
  // batch_size > 0.
  DatasetBatches(std::shared_ptr<const Dataset> data, int64_t batch_size);

  const Dataset& data() const { return *data_; }

 private:
  // The samples of a round, up to batch_size().
  virtual void Choose(int64_t round, std::vector<int32_t>* samples) = 0;
  // The bytes of a sample as this round shows them; from any thread.
  virtual absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index,
                                                          int32_t sample,
                                                          ImageScratch* scratch) const = 0;

  const std::shared_ptr<const Dataset> data_;
  const int64_t batch_size_;
  const PixelTable table_;
  std::vector<int32_t> samples_;
  ImageScratch scratch_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
