
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/data/batch.h"
#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"
#include "random/keyed_random.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using testing::EmulatedDevice;

constexpr int64_t kSamples = 60;

DatasetTraits Traits() {
  return {.name = "noise",
          .shape = {4, 3, 2},
          .classes = 1000,
          .normalization = {.mean = {0, 0.5f}, .deviation = {1, 2}},
          .augmentation = {.padding = 1, .mirror = true}};
}

std::vector<Label> Labels() {
  std::vector<Label> labels(kSamples);
  std::iota(labels.begin(), labels.end(), Label{300});
  return labels;
}

std::shared_ptr<const Dataset> Noise() {
  KeyedRandom random(1, Purpose::kSyntheticData);
  std::vector<uint8_t> pixels(static_cast<size_t>(kSamples * Traits().shape.size()));
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(random.Below(256));
  return std::make_shared<const MemoryDataset>(Traits(), pixels, Labels());
}

// Counts what it is asked for; some of its images cannot be read.
class Breakable final : public Dataset {
 public:
  explicit Breakable(std::vector<int64_t> broken = {})
      : Dataset(Traits(), Labels()), broken_(std::move(broken)) {}

  absl::StatusOr<std::span<const uint8_t>> Image(int64_t i, ImageScratch* scratch) const override {
    ++asked_;
    if (std::ranges::count(broken_, i) > 0) {
      return absl::InvalidArgumentError(absl::StrCat("image ", i, " is broken"));
    }
    scratch->image.assign(static_cast<size_t>(traits().shape.size()), static_cast<uint8_t>(i));
    return std::span<const uint8_t>(scratch->image);
  }
  absl::StatusOr<std::span<const uint8_t>> VariedImage(int64_t i, uint64_t,
                                                       ImageScratch* scratch) const override {
    return Image(i, scratch);
  }
  bool decodes() const override { return true; }
  uint32_t Checksum(uint32_t crc) const override { return crc; }
  int64_t bytes() const override { return 0; }

  int64_t asked() const { return asked_; }

 private:
  const std::vector<int64_t> broken_;
  mutable std::atomic<int64_t> asked_ = 0;
};

std::unique_ptr<ShardBatches> Shard(std::shared_ptr<const Dataset> data, int64_t batch_size,
                                    uint64_t seed) {
  std::vector<int32_t> shard(kSamples);
  std::iota(shard.begin(), shard.end(), 0);
  return std::make_unique<ShardBatches>(std::move(data), std::move(shard),
                                        ShardOptions{.batch_size = batch_size, .seed = seed});
}

void ExpectSame(BatchSource& actual, BatchSource& expected, int64_t round, Batch* batch) {
  SCOPED_TRACE(absl::StrCat("round ", round));
  Batch plain;
  ASSERT_EQ(actual.Fill(round, batch), expected.Fill(round, &plain));
  EXPECT_EQ(batch->size, plain.size);
  EXPECT_EQ(batch->labels, plain.labels);
  EXPECT_EQ(batch->images, plain.images);
}

TEST(PrefetchedBatchesTest, BatchesAreThoseOfTheSourceInAnyOrder) {
  const std::shared_ptr<const Dataset> data = Noise();
  for (const uint64_t seed : testing::Seeds(30)) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    KeyedRandom random(seed, Purpose::kShuffle);
    const auto batch_size = static_cast<int64_t>(1 + random.Below(90));
    PrefetchedBatches prefetched(Shard(data, batch_size, seed),
                                 {.threads = static_cast<int>(1 + random.Below(4)),
                                  .depth = static_cast<int>(1 + random.Below(4))});
    const std::unique_ptr<ShardBatches> plain = Shard(data, batch_size, seed);
    Batch batch;
    int64_t round = 0;
    for (int i = 0; i < 20; ++i) {
      ExpectSame(prefetched, *plain, round, &batch);
      // Mostly the next one; sometimes the same again, or any other.
      const uint64_t kind = random.Below(8);
      round = kind == 0 ? static_cast<int64_t>(random.Below(50)) : round + (kind > 1);
    }
  }
}

TEST(PrefetchedBatchesTest, WhatWasFilledAheadIsDroppedWhenSamplesAreDealtAgain) {
  const std::shared_ptr<const Dataset> data = Noise();
  std::vector<int32_t> few(10);
  std::iota(few.begin(), few.end(), 20);
  for (const uint64_t seed : testing::Seeds(30)) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    KeyedRandom random(seed, Purpose::kShuffle);
    const PrefetchOptions options{.threads = static_cast<int>(1 + random.Below(3)), .depth = 4};
    PrefetchedBatches prefetched(Shard(data, 7, seed), options);
    const std::unique_ptr<ShardBatches> plain = Shard(data, 7, seed);
    Batch batch;
    const auto dealt = static_cast<int64_t>(random.Below(10));
    const auto from = dealt + static_cast<int64_t>(random.Below(4));
    for (int64_t round = 0; round < 30; ++round) {
      if (round == dealt) {
        prefetched.DealAgain(from, few);
        plain->DealAgain(from, few);
      }
      ExpectSame(prefetched, *plain, round, &batch);
    }
  }
}

TEST(PrefetchedBatchesTest, CoversAnEvaluationWithItsSmallLastBatch) {
  const std::shared_ptr<const Dataset> data = Noise();
  EvaluationBatches plain(data, 25);
  PrefetchedBatches prefetched(std::make_unique<EvaluationBatches>(data, 25),
                               {.threads = 3, .depth = 8, .rounds = plain.count()});
  Batch batch;
  for (int pass = 0; pass < 2; ++pass) {
    for (int64_t i = 0; i < plain.count(); ++i) ExpectSame(prefetched, plain, i, &batch);
  }
  EXPECT_EQ(batch.size, 10);
}

TEST(PrefetchedBatchesTest, AnErrorComesWithItsBatchAndIsTheFirstOfIt) {
  const auto data = std::make_shared<const Breakable>(std::vector<int64_t>{7, 33, 34, 35});
  PrefetchedBatches prefetched(std::make_unique<EvaluationBatches>(data, 10),
                               {.threads = 4, .depth = 3, .rounds = 6});
  EvaluationBatches plain(data, 10);
  Batch batch, expected;
  for (int64_t i = 0; i < 6; ++i) {
    const absl::Status status = prefetched.Fill(i, &batch);
    EXPECT_EQ(status, plain.Fill(i, &expected)) << i;
    EXPECT_EQ(status.ok(), i != 0 && i != 3) << i;
  }
}

TEST(PrefetchedBatchesTest, FillsNoMoreThanItsDepthAhead) {
  const auto data = std::make_shared<const Breakable>();
  { PrefetchedBatches idle(Shard(data, 10, 1), {.threads = 3, .depth = 2}); }
  EXPECT_EQ(data->asked(), 0);
  {
    PrefetchedBatches prefetched(Shard(data, 10, 1), {.threads = 3, .depth = 2});
    Batch batch;
    for (int64_t i = 0; i < 5; ++i) ASSERT_TRUE(prefetched.Fill(i, &batch).ok());
    EXPECT_GE(data->asked(), 50);
  }
  EXPECT_LE(data->asked(), 70);
}

class CountedMemory final : public BatchMemory {
 public:
  void* Allocate(size_t bytes) override {
    ++allocated;
    return std::malloc(bytes);
  }
  void Release(void* memory) override {
    ++released;
    std::free(memory);
  }

  std::atomic<int> allocated = 0, released = 0;
};

TEST(PrefetchedBatchesTest, BatchesLieInTheMemoryThatWasAskedFor) {
  const std::shared_ptr<const Dataset> data = Noise();
  const std::unique_ptr<ShardBatches> plain = Shard(data, 8, 1);
  CountedMemory counted;
  {
    Batch batch;
    PrefetchedBatches prefetched(Shard(data, 8, 1), {.threads = 2, .depth = 3, .memory = &counted});
    for (int64_t i = 0; i < 50; ++i) {
      ExpectSame(prefetched, *plain, i, &batch);
      EXPECT_EQ(batch.images.get_allocator().memory(), &counted);
    }
    // One for each batch ahead and the caller's, used over and over.
    EXPECT_LE(counted.allocated, 4);
    // The caller's outlives the source.
  }
  EXPECT_GT(counted.allocated, 0);
  EXPECT_EQ(counted.allocated, counted.released);
}

// What a device would read of a batch.
std::vector<float> OnDevice(const Batch& batch) {
  const absl::Status arrived = batch.on_device->arrived().Wait(std::chrono::seconds(10));
  EXPECT_TRUE(arrived.ok()) << arrived;
  const auto* images = static_cast<const float*>(batch.on_device->get());
  return {images, images + batch.images.size()};
}

TEST(PrefetchedBatchesTest, BatchesAreOnTheDeviceBeforeTheyAreAskedFor) {
  const std::shared_ptr<const Dataset> data = Noise();
  const std::unique_ptr<ShardBatches> plain = Shard(data, 8, 1);
  EmulatedDevice device({.seed = 7});
  PinnedBatchMemory pinned(&device);
  Batch batch;
  PrefetchedBatches prefetched(Shard(data, 8, 1), {.threads = 2, .depth = 2, .memory = &pinned});
  for (const int64_t round : {0, 1, 2, 9, 10, 3, 4}) {
    ExpectSame(prefetched, *plain, round, &batch);
    ASSERT_NE(batch.on_device, nullptr);
    EXPECT_EQ(OnDevice(batch), std::vector<float>(batch.images.begin(), batch.images.end()));
  }
  // Whoever writes new images has no copy of them.
  ASSERT_TRUE(plain->Fill(5, &batch).ok());
  EXPECT_EQ(batch.on_device, nullptr);
}

TEST(PrefetchedBatchesTest, WithoutRoomOnTheDeviceBatchesStayInHostMemory) {
  const std::shared_ptr<const Dataset> data = Noise();
  EmulatedDevice device({.memory = 8});
  PinnedBatchMemory pinned(&device);
  Batch batch;
  PrefetchedBatches prefetched(Shard(data, 8, 1), {.threads = 1, .depth = 2, .memory = &pinned});
  ExpectSame(prefetched, *Shard(data, 8, 1), 0, &batch);
  EXPECT_EQ(batch.on_device, nullptr);
}

TEST(PrefetchedTest, ThreadsAreForImagesThatAreDecodedAndForGpus) {
  EXPECT_EQ(PrefetchThreads(*Noise(), 1, /*gpu=*/false), 0);
  EXPECT_EQ(PrefetchThreads(*Noise(), 1, /*gpu=*/true), 1);
  const Breakable decoded;
  EXPECT_THAT(PrefetchThreads(decoded, 1, /*gpu=*/false),
              ::testing::AllOf(::testing::Ge(1), ::testing::Le(8)));
  EXPECT_EQ(PrefetchThreads(decoded, 100'000, /*gpu=*/false), 1);
  auto source = Shard(Noise(), 8, 1);
  const BatchSource* plain = source.get();
  EXPECT_EQ(Prefetched(std::move(source), {}).get(), plain);
}

}  // namespace
}  // namespace grapevine
