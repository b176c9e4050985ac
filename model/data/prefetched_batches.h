// Prefetches the next rounds' batches on threads of its own, while the caller computes on the
// current one.
//
// The batches are those of the source, bit by bit. Threads share the images of a batch, so that
// the first one is ready soon and few are in memory.
#ifndef GRAPEVINE_MODEL_DATA_PREFETCHED_BATCHES_H_
#define GRAPEVINE_MODEL_DATA_PREFETCHED_BATCHES_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"
#include "system/mutex.h"

namespace grapevine {

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

#endif  // GRAPEVINE_MODEL_DATA_PREFETCHED_BATCHES_H_
