#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "model/data/dataset.h"
#include "model/data/dataset_batches.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Lt;

// Image i is one byte i.
std::shared_ptr<const Dataset> NumberedBytes(int samples) {
  std::vector<uint8_t> pixels(static_cast<size_t>(samples));
  std::iota(pixels.begin(), pixels.end(), uint8_t{0});
  const DatasetTraits traits{.name = "numbered",
                             .shape = {1, 1, 1},
                             .classes = 2,
                             .normalization = {.mean = {0}, .deviation = {1.0f / 255}}};
  return std::make_shared<const MemoryDataset>(traits, pixels, std::vector<Label>(pixels.size()));
}

// The images of each batch.
std::vector<std::vector<float>> BatchesOf(EvaluationBatches& source) {
  std::vector<std::vector<float>> batches;
  for (int64_t round = 0; round < source.count(); ++round) {
    Batch batch;
    EXPECT_TRUE(source.Fill(round, &batch).ok());
    batches.emplace_back(batch.images.begin(), batch.images.begin() + batch.size);
  }
  return batches;
}

TEST(EvaluationBatchesTest, AreTheWholeSetInItsOrder) {
  EvaluationBatches source(NumberedBytes(5), 2);
  EXPECT_THAT(BatchesOf(source), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4)));
}

TEST(EvaluationBatchesTest, OrASampleInThatOrder) {
  EvaluationBatches source(NumberedBytes(200), 4, /*most=*/10);
  const auto batches = BatchesOf(source);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[2].size(), 2u);
  std::vector<float> all;
  for (const auto& batch : batches) all.insert(all.end(), batch.begin(), batch.end());
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "one comes twice";
  EXPECT_THAT(all, Each(AllOf(Ge(0), Lt(200))));
  EXPECT_GT(all.back(), 100) << "not the first ones";
}

TEST(EvaluationBatchesTest, ASampleIsTheSameEachTime) {
  EvaluationBatches first(NumberedBytes(200), 4, 10), second(NumberedBytes(200), 4, 10);
  EXPECT_EQ(BatchesOf(first), BatchesOf(second));
}

TEST(EvaluationBatchesTest, ASampleOfMoreThanThereAreIsAll) {
  EvaluationBatches source(NumberedBytes(5), 5, /*most=*/6);
  EXPECT_THAT(BatchesOf(source), ElementsAre(ElementsAre(0, 1, 2, 3, 4)));
}

}  // namespace
}  // namespace grapevine
