#include "model/data/shard_batches.h"

#include <glog/logging.h>

#include <cstddef>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine {

ShardBatches::ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
                           const ShardOptions& options)
    : DatasetBatches(std::move(data), options.batch_size),
      shard_(std::move(shard)),
      options_(options) {
  CHECK(!shard_.empty());
}

void ShardBatches::Choose(int64_t round, std::vector<int32_t>* samples) {
  for (int64_t i = 0; i < batch_size(); ++i) {
    samples->push_back(SampleAt(round * batch_size() + i));
  }
}

int32_t ShardBatches::SampleAt(int64_t position) {
  const auto size = static_cast<int64_t>(shard_.size());
  if (position / size != pass_) ShufflePass(position / size);
  return shuffled_[static_cast<size_t>(position % size)];
}

void ShardBatches::ShufflePass(int64_t pass) {
  pass_ = pass;
  shuffled_ = shard_;
  KeyedRandom random(options_.seed, Purpose::kShuffle, static_cast<uint64_t>(options_.node),
                     static_cast<uint64_t>(pass));
  random.Shuffle(std::span(shuffled_));
}

absl::StatusOr<std::span<const uint8_t>> ShardBatches::Pixels(int64_t round, int64_t index,
                                                              int32_t sample,
                                                              ImageScratch* scratch) const {
  if (data().traits().augmentation.none()) return data().Image(sample, scratch);
  const uint64_t bits =
      Mix(options_.seed, Purpose::kAugmentation, static_cast<uint64_t>(options_.node),
          static_cast<uint64_t>(round), static_cast<uint64_t>(index));
  return data().VariedImage(sample, bits, scratch);
}

}  // namespace grapevine
