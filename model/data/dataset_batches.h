// Batches of a data set's images: filling them, and the two ways to choose samples, for
// training and for evaluation.
#ifndef GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
#define GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"

namespace grapevine {

// Bytes to normalized floats, by a table of 256 values for each channel. Immutable.
class PixelTable {
 public:
  explicit PixelTable(const Normalization& normalization);

  // out[i] <- (pixels[i] / 255 - mean) / deviation of its channel; channels last.
  void Normalize(std::span<const uint8_t> pixels, float* out) const;

 private:
  std::vector<std::array<float, 256>> channels_;
};

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

struct ShardOptions {
  int64_t batch_size = 32;
  uint64_t seed = 0;
  int64_t node = 0;
  // Rounds from here on show images without augmentation.
  int64_t augmented_rounds = std::numeric_limits<int64_t>::max();
};

// A node's training batches: its shard, reshuffled in every pass over it. They are cut from the
// endless stream of shuffled passes, so that every batch is full and nodes with small shards do
// as many rounds as the others. When samples are dealt again, the pass that has begun is finished:
// no sample comes twice in one, and none is left out. Thread-compatible. Fill is expensive when
// rounds are not requested in order: each change of the pass reshuffles.
class ShardBatches final : public DatasetBatches {
 public:
  // `shard` names samples of `data`, at least one.
  ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
               const ShardOptions& options);

  // `shard`: at least one sample.
  void DealAgain(int64_t from, std::vector<int32_t> shard) override;

 private:
  // The samples that passes are over from a position of the endless stream on.
  struct Deal {
    int64_t begin = 0;   // of its first pass
    int64_t passes = 0;  // that are before it
    std::vector<int32_t> shard;

    int64_t size() const { return static_cast<int64_t>(shard.size()); }
  };

  void Choose(int64_t round, std::vector<int32_t>* samples) override;
  absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index, int32_t sample,
                                                  ImageScratch* scratch) const override;
  // The sample at `position` of the endless stream.
  int32_t SampleAt(int64_t position);
  const Deal& DealAt(int64_t position) const;
  void ShufflePass(int64_t pass, const Deal& deal);

  std::vector<Deal> deals_;  // in the order of the stream, the first at its beginning
  const ShardOptions options_;
  std::vector<int32_t> shuffled_;
  int64_t pass_ = -1;  // that `shuffled_` is of
};

// A whole data set once, in its own order and without augmentation: what a model
// is evaluated on.
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

#endif  // GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
