#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"
#include "model/data/split.h"

namespace grapevine {
namespace {

// Image i has i in all of its 2 x 2 x 2 bytes and the label i mod 10.
std::shared_ptr<const Dataset> Numbered(int samples, const Augmentation& augmentation = {}) {
  std::vector<uint8_t> pixels;
  std::vector<Label> labels;
  for (int i = 0; i < samples; ++i) {
    pixels.insert(pixels.end(), 8, static_cast<uint8_t>(i));
    labels.push_back(static_cast<Label>(i % 10));
  }
  DatasetTraits traits{.name = "numbered",
                       .shape = {2, 2, 2},
                       .classes = 10,
                       .normalization = {.mean = {0, 0.5f}, .deviation = {1.0f / 255, 1}},
                       .augmentation = augmentation};
  return std::make_shared<const MemoryDataset>(traits, pixels, labels);
}

std::vector<int32_t> FirstSamples(int32_t count) {
  std::vector<int32_t> shard(static_cast<size_t>(count));
  std::iota(shard.begin(), shard.end(), 0);
  return shard;
}

// The numbers of the images of a batch.
std::vector<int> Numbers(const Batch& batch) {
  std::vector<int> numbers;
  for (int64_t i = 0; i < batch.size; ++i) {
    numbers.push_back(static_cast<int>(std::lround(batch.images[i * 8])));
  }
  return numbers;
}

std::vector<int> NumbersOf(BatchSource& source, int64_t round) {
  Batch batch;
  EXPECT_TRUE(source.Fill(round, &batch).ok());
  return Numbers(batch);
}

TEST(ShardBatchesTest, NormalizesPerChannelAndKeepsLabels) {
  ShardBatches source(Numbered(100), {51}, {.batch_size = 2});
  Batch batch;
  ASSERT_TRUE(source.Fill(0, &batch).ok());
  EXPECT_EQ(batch.size, 2);
  EXPECT_THAT(batch.labels, ::testing::ElementsAre(1, 1));
  ASSERT_EQ(batch.images.size(), 16u);
  for (size_t i = 0; i < 16; i += 2) {
    EXPECT_FLOAT_EQ(batch.images[i], 51);
    EXPECT_FLOAT_EQ(batch.images[i + 1], 51.0f / 255 - 0.5f);
  }
}

TEST(ShardBatchesTest, EachPassShowsEverySampleOnceInAnotherOrder) {
  ShardBatches source(Numbered(100), FirstSamples(12), {.batch_size = 4, .seed = 9});
  std::vector<std::vector<int>> passes;
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<int> seen;
    for (int i = 0; i < 3; ++i) {
      for (int number : NumbersOf(source, 3 * pass + i)) seen.push_back(number);
    }
    passes.push_back(seen);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, std::vector<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  }
  EXPECT_NE(passes[0], passes[1]);
  EXPECT_NE(passes[1], passes[2]);
}

TEST(ShardBatchesTest, SmallShardsWrapAround) {
  ShardBatches source(Numbered(100), {3, 4, 5}, {.batch_size = 8, .seed = 9});
  std::vector<int> count(100);
  for (int round = 0; round < 3; ++round) {
    for (int number : NumbersOf(source, round)) ++count[number];
  }
  EXPECT_EQ(count[3], 8);
  EXPECT_EQ(count[4], 8);
  EXPECT_EQ(count[5], 8);
}

TEST(ShardBatchesTest, ABatchIsAFunctionOfSeedNodeAndRound) {
  const auto make = [](uint64_t seed, int64_t node) {
    return ShardBatches(Numbered(100), FirstSamples(50),
                        {.batch_size = 20, .seed = seed, .node = node});
  };
  ShardBatches forwards = make(1, 2), backwards = make(1, 2), other_seed = make(2, 2),
               other_node = make(1, 3);
  std::vector<std::vector<int>> rounds;
  for (int64_t round = 0; round < 10; ++round) rounds.push_back(NumbersOf(forwards, round));
  for (int64_t round = 9; round >= 0; --round) {
    EXPECT_EQ(NumbersOf(backwards, round), rounds[round]) << round;
  }
  EXPECT_NE(NumbersOf(other_seed, 0), rounds[0]);
  EXPECT_NE(NumbersOf(other_node, 0), rounds[0]);
}

// What a node sees from the sample at `position` of its stream on.
std::vector<int> SeenFrom(BatchSource& source, int64_t position, int64_t count) {
  std::vector<int> seen;
  const int64_t size = source.batch_size();
  for (int64_t round = position / size; round * size < position + count; ++round) {
    const std::vector<int> numbers = NumbersOf(source, round);
    for (int64_t i = 0; i < size; ++i) {
      const int64_t at = round * size + i;
      if (at >= position && at < position + count) seen.push_back(numbers[i]);
    }
  }
  return seen;
}

// Of a node that has 17 samples, is dealt 23 others of them in round 7, and has begun its third
// pass by then, which ends after 51 samples.
TEST(ShardBatchesTest, SamplesThatAreDealtAgainComeAfterThePassThatHasBegun) {
  const std::vector<int32_t> dealt = FirstSamples(40);
  const auto make = [] {
    return ShardBatches(Numbered(100), FirstSamples(17), {.batch_size = 5, .seed = 9, .node = 2});
  };
  ShardBatches before = make(), source = make();
  (void)NumbersOf(source, 11);  // somewhere else, under the old deal
  source.DealAgain(7, dealt);
  EXPECT_EQ(SeenFrom(source, 0, 51), SeenFrom(before, 0, 51));
  std::vector<std::vector<int>> passes;
  for (const int64_t begin : {51, 91}) {
    passes.push_back(SeenFrom(source, begin, 40));
    std::vector<int> sorted = passes.back();
    std::ranges::sort(sorted);
    EXPECT_EQ(sorted, std::vector<int>(dealt.begin(), dealt.end()));
  }
  EXPECT_NE(passes[0], passes[1]);
  EXPECT_EQ(SeenFrom(source, 0, 51), SeenFrom(before, 0, 51)) << "rounds before stay";
}

// Nodes 1 and 3 of five are lost in round 4, and 0 in round 30, of 100 samples.
TEST(ShardBatchesTest, TheLivingSeeEverySampleOnceAnEpoch) {
  const Shards shards = *SplitOverNodes("iid", std::vector<uint16_t>(100), /*nodes=*/5, /*seed=*/1);
  const std::vector<Rank> three = {0, 2, 4}, two = {2, 4};
  std::vector<int> early, late;
  for (const Rank node : two) {
    ShardBatches source(Numbered(100), shards[node], {.batch_size = 6, .seed = 9, .node = node});
    source.DealAgain(4, ShardAmong(three, node, shards));
    source.DealAgain(30, ShardAmong(two, node, shards));
    // Of 20 samples until two passes have ended, and then of about 33 until that is so in the
    // sixth.
    const auto third = static_cast<int64_t>(ShardAmong(three, node, shards).size());
    for (const int sample : SeenFrom(source, 40, third)) early.push_back(sample);
    const int64_t end = 40 + (180 - 40 + third - 1) / third * third;
    for (const int sample : SeenFrom(source, end, 50)) late.push_back(sample);
  }
  ShardBatches source(Numbered(100), shards[0], {.batch_size = 6, .seed = 9, .node = 0});
  source.DealAgain(4, ShardAmong(three, 0, shards));
  for (const int sample : SeenFrom(source, 40, 100 - static_cast<int64_t>(early.size()))) {
    early.push_back(sample);
  }
  const std::vector<int32_t> all = FirstSamples(100);
  for (std::vector<int>& epoch : {std::ref(early), std::ref(late)}) {
    std::ranges::sort(epoch);
    EXPECT_EQ(epoch, std::vector<int>(all.begin(), all.end()));
  }
}

TEST(ShardBatchesTest, ADealThatHasNotBegunIsReplaced) {
  const auto seen = [](auto deal) {
    ShardBatches source(Numbered(100), FirstSamples(17), {.batch_size = 5, .seed = 9});
    deal(source);
    return SeenFrom(source, 0, 200);
  };
  const auto at_once = seen([](BatchSource& source) { source.DealAgain(9, FirstSamples(60)); });
  const auto one_by_one = seen([](BatchSource& source) {
    source.DealAgain(7, FirstSamples(40));
    source.DealAgain(9, FirstSamples(60));
  });
  EXPECT_EQ(one_by_one, at_once);
  const auto twice = seen([](BatchSource& source) {
    source.DealAgain(7, FirstSamples(40));
    source.DealAgain(7, FirstSamples(60));
  });
  EXPECT_EQ(twice, at_once) << "the pass that has begun ends where it did";
}

TEST(ShardBatchesTest, ADealAtAPassesEndBeginsThere) {
  ShardBatches source(Numbered(100), FirstSamples(10), {.batch_size = 5, .seed = 9});
  source.DealAgain(0, FirstSamples(20));
  source.DealAgain(4, FirstSamples(30));
  for (const auto& [begin, size] : {std::pair(0, 20), std::pair(20, 30)}) {
    std::vector<int> pass = SeenFrom(source, begin, size);
    std::ranges::sort(pass);
    const std::vector<int32_t> all = FirstSamples(size);
    EXPECT_EQ(pass, std::vector<int>(all.begin(), all.end()));
  }
}

TEST(ShardBatchesTest, AugmentsAnewInEveryRoundButReproducibly) {
  const Augmentation augmentation{.padding = 1, .mirror = true};
  const auto images = [&](int64_t round) {
    ShardBatches source(Numbered(100, augmentation), {51}, {.batch_size = 16, .seed = 4});
    Batch batch;
    EXPECT_TRUE(source.Fill(round, &batch).ok());
    return batch.images;
  };
  EXPECT_EQ(images(0), images(0));
  EXPECT_NE(images(0), images(1));
  // Some crop of the 16 has black in it, and none is all black.
  const BatchVector first = images(0);
  EXPECT_GT(std::ranges::count(first, 0.0f), 0);
  for (int i = 0; i < 16; ++i) {
    const auto bright = [](float value) { return value > 50; };
    EXPECT_GT(std::count_if(first.begin() + 8 * i, first.begin() + 8 * (i + 1), bright), 0) << i;
  }
}

TEST(ShardBatchesTest, ShowsTheLastRoundsWithoutAugmentation) {
  const Augmentation augmentation{.padding = 1, .mirror = true};
  const auto images = [](const Augmentation& varied, int64_t until, int64_t round) {
    ShardBatches source(Numbered(100, varied), {51},
                        {.batch_size = 16, .seed = 4, .augmented_rounds = until});
    Batch batch;
    EXPECT_TRUE(source.Fill(round, &batch).ok());
    return batch.images;
  };
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(images(augmentation, 7, 6), images(augmentation, kNever, 6));
  EXPECT_NE(images(augmentation, 7, 7), images(augmentation, kNever, 7));
  EXPECT_EQ(images(augmentation, 7, 7), images({}, kNever, 7));
}

TEST(EvaluationBatchesTest, CoversTheDataInOrderAndUnaugmented) {
  EvaluationBatches batches(Numbered(10, {.padding = 1, .mirror = true}), 4);
  ASSERT_EQ(batches.count(), 3);
  Batch batch;
  std::vector<int> seen;
  for (int64_t i = 0; i < batches.count(); ++i) {
    ASSERT_TRUE(batches.Fill(i, &batch).ok());
    EXPECT_EQ(batch.size, i < 2 ? 4 : 2);
    EXPECT_EQ(batch.images.size(), static_cast<size_t>(8 * batch.size));
    for (int64_t j = 0; j < batch.size; ++j) EXPECT_EQ(batch.labels[j], 4 * i + j);
    for (int number : Numbers(batch)) seen.push_back(number);
  }
  EXPECT_EQ(seen, std::vector<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

}  // namespace
}  // namespace grapevine
