// Batches of a data set's images: filling them, and the two ways to choose samples, for
// training and for evaluation.
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

// A whole data set once, or a sample of it, in its own order and without augmentation: what a
// model is evaluated on.
// Thread-compatible. Rounds are 0 .. count() - 1.
class EvaluationBatches final : public DatasetBatches {
 public:
  // batch_size > 0; the last batch may be smaller. `most`: of a larger data set, so many samples,
  // the same ones each time, whatever the run's seed; positive.
  EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size,
                    int64_t most = std::numeric_limits<int64_t>::max());

  // Batches that cover them.
  int64_t count() const { return (size() + batch_size() - 1) / batch_size(); }

 private:
  int64_t size() const { return drawn_.empty() ? data().size() : std::ssize(drawn_); }

  void Choose(int64_t round, std::vector<int32_t>* samples) override;
  absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index, int32_t sample,
                                                  ImageScratch* scratch) const override;

  const std::vector<int32_t> drawn_;  // ascending; empty: all
};

// Prefetches the next rounds' batches on threads of its own, while the caller computes on the
// current one.
//
// The batches are those of the source, bit by bit. Threads share the images of a batch, so that
// the first one is ready soon and few are in memory.
struct PrefetchOptions {
  int threads = 0;  // that fill batches; with none they are filled on demand
  int depth = 2;    // batches being filled or waiting, besides the caller's
  // Where the batches' images lie; null is ordinary memory.
  BatchMemory* memory = nullptr;
  // There are no rounds from here on.
  int64_t rounds = std::numeric_limits<int64_t>::max();
};

// The threads to use for `data` if `processes` share this process's processors: for images that
// are decoded, the share of the processors, at most 8; for images in memory none, or one if
// gradients run on a GPU.
int PrefetchThreads(const Dataset& data, int processes, bool gpu);

// Thread-compatible. Nothing is filled before the first Fill.
class PrefetchedBatches final : public BatchSource {
 public:
  // options.threads and options.depth are positive.
  PrefetchedBatches(std::unique_ptr<DatasetBatches> source, const PrefetchOptions& options);
  // Waits for no more than the images in the threads' hands, and batches on their way to a
  // device.
  ~PrefetchedBatches() override;

  ImageShape shape() const override { return source_->shape(); }
  int64_t classes() const override { return source_->classes(); }
  int64_t batch_size() const override { return source_->batch_size(); }
  // Exchanges the memory of `batch` for that of a filled one. Rounds are expected
  // in order; another one begins anew. An error is that of the first image of the
  // batch that has one.
  absl::Status Fill(int64_t round, Batch* batch) override;
  // What was filled ahead with samples that are no longer the node's is dropped.
  void DealAgain(int64_t from, std::vector<int32_t> shard) override;

 private:
  // A batch whose images up to `claimed` are assigned to threads or done.
  struct Pending {
    int64_t round = 0;
    Batch batch;
    std::vector<int32_t> samples;
    int64_t claimed = 0;
    int64_t done = 0;
    bool ready = false;                                    // all done, and on its way to a device
    int64_t failed = std::numeric_limits<int64_t>::max();  // the image that `status` is of
    absl::Status status;
  };
  // Images [begin, end) of a batch, to be filled by one thread. Batches that nobody
  // waits for any more live as long as their shares.
  struct Share {
    std::shared_ptr<Pending> pending;
    int64_t begin = 0;
    int64_t end = 0;
  };

  void Work();
  // Waits for a share; false at the end.
  bool Claim(Share* share);
  void FillShare(const Share& share, ImageScratch* scratch);
  // After the last image.
  void Complete(Pending* pending);

  std::shared_ptr<Pending> Unclaimed() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Begin() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::unique_ptr<DatasetBatches> source_;  // Begin and DealAgain with mutex_ held
  const PrefetchOptions options_;
  const int64_t share_size_;
  std::atomic<bool> stopping_ = false;
  Mutex mutex_;
  Condition work_;   // a share may be there, or the end
  Condition ready_;  // a batch may be ready
  // In the order of their rounds, without gaps.
  std::deque<std::shared_ptr<Pending>> pending_ ABSL_GUARDED_BY(mutex_);
  int64_t next_round_ ABSL_GUARDED_BY(mutex_);  // to be begun
  std::vector<Batch> spare_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::thread> threads_;
};

// `source` with prefetching, or as it is if there are no threads.
std::unique_ptr<BatchSource> Prefetched(std::unique_ptr<DatasetBatches> source,
                                        const PrefetchOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_DATASET_BATCHES_H_
