#include "model/shard_batches.h"

#include <glog/logging.h>

#include <cstddef>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine {

ShardBatches::ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
                           const ShardOptions& options)
    : data_(std::move(data)),
      shard_(std::move(shard)),
      options_(options),
      table_(data_->traits().normalization),
      varied_(static_cast<size_t>(data_->traits().shape.size())) {
  CHECK(!shard_.empty());
  CHECK_GT(options_.batch_size, 0);
}

void ShardBatches::Fill(int64_t round, Batch* batch) {
  const int64_t image = shape().size();
  batch->size = options_.batch_size;
  batch->images.resize(static_cast<size_t>(batch->size * image));
  batch->labels.resize(static_cast<size_t>(batch->size));
  for (int64_t i = 0; i < batch->size; ++i) {
    const int32_t sample = SampleAt(round * batch->size + i);
    table_.Normalize(Pixels(sample, round, i), &batch->images[static_cast<size_t>(i * image)]);
    batch->labels[static_cast<size_t>(i)] = data_->labels()[static_cast<size_t>(sample)];
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

std::span<const uint8_t> ShardBatches::Pixels(int32_t sample, int64_t round, int64_t index) {
  const Augmentation& augmentation = data_->traits().augmentation;
  if (augmentation.none()) return data_->pixels(sample);
  const uint64_t bits =
      Mix(options_.seed, Purpose::kAugmentation, static_cast<uint64_t>(options_.node),
          static_cast<uint64_t>(round), static_cast<uint64_t>(index));
  ApplyVariation(augmentation, DrawVariation(augmentation, bits), shape(), data_->pixels(sample),
                 varied_);
  return varied_;
}

}  // namespace grapevine
