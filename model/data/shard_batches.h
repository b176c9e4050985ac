// A node's training batches: its shard, reshuffled in every pass over it.
//
// Batches are cut from the endless stream of shuffled passes, so that every
// batch is full and nodes with small shards do as many rounds as the others.
#ifndef GRAPEVINE_MODEL_DATA_SHARD_BATCHES_H_
#define GRAPEVINE_MODEL_DATA_SHARD_BATCHES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"

namespace grapevine {

struct ShardOptions {
  int64_t batch_size = 32;
  uint64_t seed = 0;
  int64_t node = 0;
};

// Thread-compatible. Fill costs most when rounds are not asked for in order: each
// change of the pass shuffles anew.
class ShardBatches final : public DatasetBatches {
 public:
  // `shard` names samples of `data`, at least one.
  ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
               const ShardOptions& options);

 private:
  void Choose(int64_t round, std::vector<int32_t>* samples) override;
  absl::StatusOr<std::span<const uint8_t>> Pixels(int64_t round, int64_t index, int32_t sample,
                                                  ImageScratch* scratch) const override;
  // The sample at `position` of the endless stream.
  int32_t SampleAt(int64_t position);
  void ShufflePass(int64_t pass);

  const std::vector<int32_t> shard_;
  const ShardOptions options_;
  std::vector<int32_t> shuffled_;
  int64_t pass_ = -1;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_SHARD_BATCHES_H_
