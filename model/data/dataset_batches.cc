#include "model/data/dataset_batches.h"

#include <glog/logging.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/status_macros.h"
#include "random/keyed_random.h"

namespace grapevine {

PixelTable::PixelTable(const Normalization& normalization) : channels_(normalization.mean.size()) {
  for (size_t c = 0; c < channels_.size(); ++c) {
    for (size_t byte = 0; byte < 256; ++byte) {
      channels_[c][byte] =
          (static_cast<float>(byte) / 255.0f - normalization.mean[c]) / normalization.deviation[c];
    }
  }
}

void PixelTable::Normalize(std::span<const uint8_t> pixels, float* out) const {
  for (size_t i = 0; i < pixels.size();) {
    for (const std::array<float, 256>& channel : channels_) {
      out[i] = channel[pixels[i]];
      ++i;
    }
  }
}

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

ShardBatches::ShardBatches(std::shared_ptr<const Dataset> data, std::vector<int32_t> shard,
                           const ShardOptions& options)
    : DatasetBatches(std::move(data), options.batch_size), options_(options) {
  CHECK(!shard.empty());
  deals_.push_back({.shard = std::move(shard)});
}

void ShardBatches::DealAgain(int64_t from, std::vector<int32_t> shard) {
  CHECK(!shard.empty());
  const int64_t position = from * batch_size();
  while (deals_.size() > 1 && deals_.back().begin >= position) deals_.pop_back();
  const Deal& last = deals_.back();
  const int64_t passes = (position - last.begin + last.size() - 1) / last.size();
  deals_.push_back({.begin = last.begin + passes * last.size(),
                    .passes = last.passes + passes,
                    .shard = std::move(shard)});
  pass_ = -1;
}

void ShardBatches::Choose(int64_t round, std::vector<int32_t>* samples) {
  for (int64_t i = 0; i < batch_size(); ++i) {
    samples->push_back(SampleAt(round * batch_size() + i));
  }
}

int32_t ShardBatches::SampleAt(int64_t position) {
  const Deal& deal = DealAt(position);
  const int64_t within = position - deal.begin;
  const int64_t pass = deal.passes + within / deal.size();
  if (pass != pass_) ShufflePass(pass, deal);
  return shuffled_[static_cast<size_t>(within % deal.size())];
}

const ShardBatches::Deal& ShardBatches::DealAt(int64_t position) const {
  auto deal = deals_.rbegin();
  while (deal->begin > position) ++deal;
  return *deal;
}

void ShardBatches::ShufflePass(int64_t pass, const Deal& deal) {
  pass_ = pass;
  shuffled_ = deal.shard;
  KeyedRandom random(options_.seed, Purpose::kShuffle, static_cast<uint64_t>(options_.node),
                     static_cast<uint64_t>(pass));
  random.Shuffle(std::span(shuffled_));
}

absl::StatusOr<std::span<const uint8_t>> ShardBatches::Pixels(int64_t round, int64_t index,
                                                              int32_t sample,
                                                              ImageScratch* scratch) const {
  if (data().traits().augmentation.none() || round >= options_.augmented_rounds) {
    return data().Image(sample, scratch);
  }
  const uint64_t bits =
      Mix(options_.seed, Purpose::kAugmentation, static_cast<uint64_t>(options_.node),
          static_cast<uint64_t>(round), static_cast<uint64_t>(index));
  return data().VariedImage(sample, bits, scratch);
}

EvaluationBatches::EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size)
    : DatasetBatches(std::move(data), batch_size) {}

void EvaluationBatches::Choose(int64_t round, std::vector<int32_t>* samples) {
  CHECK(0 <= round && round < count());
  const int64_t end = std::min((round + 1) * batch_size(), data().size());
  for (int64_t i = round * batch_size(); i < end; ++i) samples->push_back(static_cast<int32_t>(i));
}

absl::StatusOr<std::span<const uint8_t>> EvaluationBatches::Pixels(int64_t round, int64_t index,
                                                                   int32_t sample,
                                                                   ImageScratch* scratch) const {
  return data().Image(sample, scratch);
}

}  // namespace grapevine
