// A node's training batches: its shard, reshuffled in every pass over it.
//
// Batches are cut from the endless stream of shuffled passes, so that every
// batch is full and nodes with small shards do as many rounds as the others.
#ifndef GRAPEVINE_MODEL_SHARD_BATCHES_H_
#define GRAPEVINE_MODEL_SHARD_BATCHES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/batch.h"
#include "model/dataset.h"
#include "model/pixel_table.h"

namespace grapevine {

struct ShardOptions {
  int64_t batch_size = 32;
  uint64_t seed = 0;
  int64_t node = 0;
};

// Thread-compatible. Fill costs most when rounds are not asked for in order: each
// change of the pass shuffles anew.
class ShardBatches final : public BatchSource {
 public:
  // `shard` names samples of `data`, at least one.
  ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
               const ShardOptions& options);

  ImageShape shape() const override { return data_->traits().shape; }
  int64_t classes() const override { return data_->traits().classes; }
  int64_t batch_size() const override { return options_.batch_size; }
  void Fill(int64_t round, Batch* batch) override;

 private:
  // The sample at `position` of the endless stream.
  int32_t SampleAt(int64_t position);
  void ShufflePass(int64_t pass);
  // The bytes of a sample as this round varies them.
  std::span<const uint8_t> Pixels(int32_t sample, int64_t round, int64_t index);

  const std::shared_ptr<const Dataset> data_;
  const std::vector<int32_t> shard_;
  const ShardOptions options_;
  const PixelTable table_;
  std::vector<int32_t> shuffled_;
  int64_t pass_ = -1;
  std::vector<uint8_t> varied_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_SHARD_BATCHES_H_
