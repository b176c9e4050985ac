// Fills batches with the images of a data set, and chooses their samples in two ways: for training
// and for evaluation.
#ifndef GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
#define GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <iterator>
#include <limits>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "system/mutex.h"

namespace grapevine {

// Converts bytes to normalized floats by a table of 256 values for each channel. Immutable.
class PixelTable {
 public:
  explicit PixelTable(const Normalization& normalization);

  // out[i] <- (pixels[i] / 255 - mean) / deviation of its channel; channels last.
  void Normalize(std::span<const uint8_t> pixels, float* out) const;

 private:
  std::vector<std::array<float, 256>> channels_;
};

// The common part of both ways to choose samples. Thread-compatible, except for FillImage.
class DatasetBatches : public BatchSource {
 public:
  ImageShape shape() const override { return data_->traits().shape; }
  int64_t classes() const override { return data_->traits().classes; }
  int64_t batch_size() const override { return batch_size_; }

  // Calls Begin, and then FillImage for every image.
  absl::Status Fill(int64_t round, Batch* batch) final;

  // Sets the size and the labels of `batch`, and writes the batch's samples into `samples`.
  void Begin(int64_t round, Batch* batch, std::vector<int32_t>* samples);
  // Writes the image of `sample` into the place `index` of a batch after Begin. Safe from any
  // thread; several threads may fill different places at once. Errors are the data set's.
  absl::Status FillImage(int64_t round, int64_t index, int32_t sample, ImageScratch* scratch,
                         Batch* batch) const;

 protected:
  // batch_size > 0.
  DatasetBatches(std::shared_ptr<const Dataset> data, int64_t batch_size);

  const Dataset& data() const { return *data_; }

 private:
  // Appends the samples of a round, at most batch_size(), to `samples`.
  virtual void Choose(int64_t round, std::vector<int32_t>* samples) = 0;
  // Returns the bytes of a sample as `round` shows them. Safe from any thread.
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
  // The first round that shows images without augmentation; later rounds do too.
  int64_t augmented_rounds = std::numeric_limits<int64_t>::max();
};

// A node's training batches: its shard, reshuffled in every pass over it. Batches are cut from the
// endless stream of shuffled passes, so that every batch is full and nodes with small shards do
// as many rounds as the others. When samples are dealt again, the pass that has begun is finished,
// so that each pass contains every sample exactly once. Fill is expensive if rounds are not
// requested in order, because each change of the pass reshuffles. Thread-compatible.
class ShardBatches final : public DatasetBatches {
 public:
  // `shard` contains the numbers of samples of `data`, at least one.
  ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
               const ShardOptions& options);

  // `shard` must have at least one sample.
  void DealAgain(int64_t from, std::vector<int32_t> shard) override;

 private:
  // The samples of the passes from a position of the endless stream on.
  struct Deal {
    int64_t begin = 0;   // position of the first pass over `shard`
    int64_t passes = 0;  // number of passes before it
    std::vector<int32_t> shard;

    int64_t size() const { return static_cast<int64_t>(shard.size()); }
  };

  void Choose(int64_t round, std::vector<int32_t>* samples) override;
  absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index, int32_t sample,
                                                  ImageScratch* scratch) const override;
  // Returns the sample at `position` of the endless stream.
  int32_t SampleAt(int64_t position);
  const Deal& DealAt(int64_t position) const;
  void ShufflePass(int64_t pass, const Deal& deal);

  std::vector<Deal> deals_;  // in the order of the stream, the first one at its beginning
  const ShardOptions options_;
  std::vector<int32_t> shuffled_;
  int64_t pass_ = -1;  // the pass whose samples are in `shuffled_`
};

// The batches on which a model is evaluated: a whole data set once, or a sample of it, in the order
// of the data set and without augmentation. Rounds are 0 .. count() - 1. Thread-compatible.
class EvaluationBatches final : public DatasetBatches {
 public:
  // `batch_size` must be positive; the last batch may be smaller. If the data set has more than
  // `most` samples, a sample of `most` is used, which is always the same and does not depend on the
  // run's seed. `most` must be positive.
  EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size,
                    int64_t most = std::numeric_limits<int64_t>::max());

  // Returns the number of batches that cover the samples.
  int64_t count() const { return (size() + batch_size() - 1) / batch_size(); }

 private:
  int64_t size() const { return drawn_.empty() ? data().size() : std::ssize(drawn_); }

  void Choose(int64_t round, std::vector<int32_t>* samples) override;
  absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index, int32_t sample,
                                                  ImageScratch* scratch) const override;

  const std::vector<int32_t> drawn_;  // ascending; empty if all samples are used
};

// How batches are prefetched: threads fill the batches of the next rounds while the caller computes
// on the current one.
//
// The batches have the bits of the source's batches. The threads share the images of each batch, so
// that the first batch is ready soon and few batches are in memory.
struct PrefetchOptions {
  int threads = 0;  // threads that fill batches; with 0, batches are filled on demand
  int depth = 2;    // batches being filled or waiting, besides the caller's
  // Memory for the images of the batches; null means ordinary memory.
  BatchMemory* memory = nullptr;
  // Number of rounds: rounds are below it.
  int64_t rounds = std::numeric_limits<int64_t>::max();
};

// Returns the number of threads to use for `data` if `processes` processes share this process's
// processors. For images that are decoded, it is the process's share of the processors, from 1 to
// 8; for images in memory it is 0, or 1 if gradients run on a GPU.
int PrefetchThreads(const Dataset& data, int processes, bool gpu);

// A source that prefetches the batches of another one. It fills nothing before the first Fill.
// Thread-compatible.
class PrefetchedBatches final : public BatchSource {
 public:
  // options.threads and options.depth must be positive.
  PrefetchedBatches(std::unique_ptr<DatasetBatches> source, const PrefetchOptions& options);
  // Waits only for the images that threads are filling, and for batches on their way to a device.
  ~PrefetchedBatches() override;

  ImageShape shape() const override { return source_->shape(); }
  int64_t classes() const override { return source_->classes(); }
  int64_t batch_size() const override { return source_->batch_size(); }
  // Exchanges the memory of `batch` for that of a filled one. Rounds are expected in order; a round
  // out of order restarts the prefetching. The error is that of the first image of the batch that
  // failed.
  absl::Status Fill(int64_t round, Batch* batch) override;
  // Also drops batches from the round `from` on that were filled ahead.
  void DealAgain(int64_t from, std::vector<int32_t> shard) override;

 private:
  // A batch whose images up to `claimed` are assigned to threads or done.
  struct Pending {
    int64_t round = 0;
    Batch batch;
    std::vector<int32_t> samples;
    int64_t claimed = 0;
    int64_t done = 0;
    bool ready = false;  // all images are done, and the upload to a device, if any, is queued
    int64_t failed = std::numeric_limits<int64_t>::max();  // the first image that failed
    absl::Status status;                                   // the error of that image
  };
  // Images [begin, end) of a batch, to be filled by one thread. A batch that the caller no longer
  // waits for lives as long as its shares.
  struct Share {
    std::shared_ptr<Pending> pending;
    int64_t begin = 0;
    int64_t end = 0;
  };

  void Work();
  // Waits for a share. Returns false when the threads must end.
  bool Claim(Share* share);
  void FillShare(const Share& share, ImageScratch* scratch);
  // Uploads a batch to the device, if any, and makes it ready. Called after its last image.
  void Complete(Pending* pending);

  std::shared_ptr<Pending> Unclaimed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<DatasetBatches> source_;  // Begin and DealAgain need mutex_
  const PrefetchOptions options_;
  const int64_t share_size_;
  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  Condition work_;   // signalled when a share may be available, and at the end
  Condition ready_;  // signalled when a batch may be ready
  // Batches in the order of their rounds, without gaps.
  std::deque<std::shared_ptr<Pending>> pending_ ABSL_GUARDED_BY(mutex_);
  int64_t next_round_ ABSL_GUARDED_BY(mutex_);  // the next round to begin
  std::vector<Batch> spare_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

// Returns `source` with prefetching, or `source` itself if options.threads is 0.
std::unique_ptr<BatchSource> Prefetched(std::unique_ptr<DatasetBatches> source,
                                        const PrefetchOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
