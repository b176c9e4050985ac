#include "model/data/dataset_batches.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "base/status.h"
#include "random/keyed_random.h"
#include "system/usable_cores.h"

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

namespace {

// Normalizes an image of floats, as PixelTable does an image of bytes.
void NormalizeFloats(const Normalization& normalization, std::span<const uint8_t> pixels,
                     float* out) {
  std::memcpy(out, pixels.data(), pixels.size());
  const size_t channels = normalization.mean.size();
  for (size_t i = 0; i < pixels.size() / sizeof(float); ++i) {
    const size_t c = i % channels;
    out[i] = (out[i] - normalization.mean[c]) / normalization.deviation[c];
  }
}

}  // namespace

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
  float* const image = &batch->images[static_cast<size_t>(index * shape().size())];
  if (data_->traits().floats) {
    NormalizeFloats(data_->traits().normalization, pixels, image);
  } else {
    table_.Normalize(pixels, image);
  }
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

namespace {

// Draws `count` of the numbers 0 .. all - 1, ascending. Returns an empty vector if `count` is not
// less than `all`.
std::vector<int32_t> Drawn(int64_t all, int64_t count) {
  CHECK_GT(count, 0);
  if (count >= all) return {};
  std::vector<int32_t> numbers(static_cast<size_t>(all));
  std::iota(numbers.begin(), numbers.end(), 0);
  KeyedRandom(0, Purpose::kTestSample).Shuffle(std::span(numbers));
  numbers.resize(static_cast<size_t>(count));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

EvaluationBatches::EvaluationBatches(std::shared_ptr<const Dataset> data, int64_t batch_size,
                                     int64_t most)
    : DatasetBatches(data, batch_size), drawn_(Drawn(data->size(), most)) {}

void EvaluationBatches::Choose(int64_t round, std::vector<int32_t>* samples) {
  CHECK(0 <= round && round < count());
  const int64_t end = std::min((round + 1) * batch_size(), size());
  for (int64_t i = round * batch_size(); i < end; ++i) {
    samples->push_back(drawn_.empty() ? static_cast<int32_t>(i) : drawn_[static_cast<size_t>(i)]);
  }
}

absl::StatusOr<std::span<const uint8_t>> EvaluationBatches::Pixels(int64_t round, int64_t index,
                                                                   int32_t sample,
                                                                   ImageScratch* scratch) const {
  return data().Image(sample, scratch);
}

namespace {

constexpr int kMaxThreads = 8;
// Shares of a batch for each thread; several even out the different costs of images.
constexpr int64_t kSharesPerThread = 4;
constexpr std::chrono::seconds kIdleWait{10};

std::chrono::steady_clock::time_point IdleDeadline() {
  return std::chrono::steady_clock::now() + kIdleWait;
}

}  // namespace

int PrefetchThreads(const Dataset& data, int processes, bool gpu) {
  if (!data.decodes()) return gpu ? 1 : 0;
  return std::clamp(UsableCores() / std::max(processes, 1), 1, kMaxThreads);
}

PrefetchedBatches::PrefetchedBatches(std::unique_ptr<DatasetBatches> source,
                                     const PrefetchOptions& options)
    : source_(std::move(source)),
      options_(options),
      share_size_(std::max<int64_t>(
          1, source_->batch_size() / (kSharesPerThread * std::max(options.threads, 1)))),
      next_round_(options.rounds) {
  CHECK_GT(options_.threads, 0);
  CHECK_GT(options_.depth, 0);
  for (int i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { Work(); });
}

PrefetchedBatches::~PrefetchedBatches() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  work_.NotifyAll();
  for (std::thread& thread : threads_) thread.join();
}

absl::Status PrefetchedBatches::Fill(int64_t round, Batch* batch) {
  CHECK(0 <= round && round < options_.rounds);
  batch->on_device = nullptr;  // the caller no longer needs the copy
  MutexLock lock(mutex_);
  if (pending_.empty() ? next_round_ != round : pending_.front()->round != round) {
    pending_.clear();
    next_round_ = round;
  }
  work_.NotifyAll();
  while (pending_.empty() || !pending_.front()->ready) ready_.WaitUntil(mutex_, IdleDeadline());
  const std::shared_ptr<Pending> first = pending_.front();
  pending_.pop_front();
  std::swap(*batch, first->batch);
  if (first->batch.images.get_allocator().memory() == options_.memory) {
    spare_.push_back(std::move(first->batch));
  }
  work_.NotifyAll();
  return first->status;
}

void PrefetchedBatches::DealAgain(int64_t from, std::vector<int32_t> shard) {
  MutexLock lock(mutex_);
  source_->DealAgain(from, std::move(shard));
  while (!pending_.empty() && pending_.back()->round >= from) {
    next_round_ = pending_.back()->round;
    pending_.pop_back();
  }
}

void PrefetchedBatches::Work() {
  ImageScratch scratch;
  for (Share share; Claim(&share); share = {}) FillShare(share, &scratch);
}

bool PrefetchedBatches::Claim(Share* share) {
  MutexLock lock(mutex_);
  while (!stopping_) {
    if (const std::shared_ptr<Pending> pending = Unclaimed()) {
      const int64_t begin = pending->claimed;
      pending->claimed = std::min(begin + share_size_, pending->batch.size);
      *share = {pending, begin, pending->claimed};
      return true;
    }
    work_.WaitUntil(mutex_, IdleDeadline());
  }
  return false;
}

std::shared_ptr<PrefetchedBatches::Pending> PrefetchedBatches::Unclaimed() {
  const auto has_unclaimed = [](const std::shared_ptr<Pending>& pending) {
    return pending->claimed < pending->batch.size;
  };
  const auto found = std::ranges::find_if(pending_, has_unclaimed);
  if (found != pending_.end()) return *found;
  if (static_cast<int>(pending_.size()) == options_.depth || next_round_ == options_.rounds) {
    return nullptr;
  }
  Begin();
  return pending_.back();
}

void PrefetchedBatches::Begin() {
  auto pending = std::make_shared<Pending>();
  pending->round = next_round_++;
  if (spare_.empty()) {
    pending->batch.images = BatchVector(BatchAllocator<float>(options_.memory));
  } else {
    pending->batch = std::move(spare_.back());
    spare_.pop_back();
  }
  source_->Begin(pending->round, &pending->batch, &pending->samples);
  pending_.push_back(std::move(pending));
  CHECK_LE(static_cast<int>(pending_.size()), options_.depth);
}

void PrefetchedBatches::FillShare(const Share& share, ImageScratch* scratch) {
  Pending& pending = *share.pending;
  absl::Status status;
  int64_t i = share.begin;
  for (; i < share.end && !stopping_; ++i) {
    status = source_->FillImage(pending.round, i, pending.samples[static_cast<size_t>(i)], scratch,
                                &pending.batch);
    if (!status.ok()) break;
  }
  {
    MutexLock lock(mutex_);
    if (!status.ok() && i < pending.failed) {
      pending.failed = i;
      pending.status = std::move(status);
    }
    pending.done += share.end - share.begin;
    if (pending.done < pending.batch.size) return;
  }
  Complete(&pending);
}

void PrefetchedBatches::Complete(Pending* pending) {
  const BatchVector& images = pending->batch.images;
  if (options_.memory != nullptr && pending->status.ok() && !stopping_) {
    pending->batch.on_device =
        options_.memory->Upload(images.data(), images.size() * sizeof(float));
  }
  MutexLock lock(mutex_);
  pending->ready = true;
  ready_.NotifyAll();
}

std::unique_ptr<BatchSource> Prefetched(std::unique_ptr<DatasetBatches> source,
                                        const PrefetchOptions& options) {
  if (options.threads == 0) return source;
  return std::make_unique<PrefetchedBatches>(std::move(source), options);
}

}  // namespace grapevine
