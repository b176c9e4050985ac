#include "model/datasets/cifar10.h"

#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/datasets/image_of.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

// A record whose planes are filled with red, green and blue.
std::string Record(int label, char red, char green, char blue) {
  return std::string(1, static_cast<char>(label)) + std::string(1024, red) +
         std::string(1024, green) + std::string(1024, blue);
}

// The bytes [begin, end) of an image.
std::vector<uint8_t> Part(const Dataset& data, int64_t i, int64_t begin, int64_t end) {
  const std::vector<uint8_t> image = ImageOf(data, i);
  return {image.begin() + begin, image.begin() + end};
}

std::string Refusal(const ScratchFolder& folder) {
  const absl::Status status = ReadCifar10(folder.path(), {}).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
  return std::string(status.message());
}

TEST(Cifar10Test, ReadsAnyNumberOfBatchesInTheOrderOfTheirNumbers) {
  const ScratchFolder folder;
  folder.Write("data_batch_10.bin", Record(3, 'd', 'e', 'f'));
  folder.Write("data_batch_2.bin", Record(1, 'a', 'b', 'c') + Record(2, 'x', 'y', 'z'));
  folder.Write("test_batch.bin", Record(9, 'r', 'g', 'b'));
  folder.Write("batches.meta.txt", "airplane\n");
  const absl::StatusOr<TrainTest> data = ReadCifar10(folder.path(), {.padding = 4, .mirror = true});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(data->train->labels(), ::testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(data->test->labels(), ::testing::ElementsAre(9));
  EXPECT_EQ(data->train->traits().shape, (ImageShape{32, 32, 3}));
  EXPECT_EQ(data->train->traits().augmentation.padding, 4);
  // Planes become channels.
  EXPECT_THAT(Part(*data->train, 2, 0, 6), ::testing::ElementsAre('d', 'e', 'f', 'd', 'e', 'f'));
  EXPECT_THAT(Part(*data->train, 1, 3069, 3072), ::testing::ElementsAre('x', 'y', 'z'));
}

TEST(Cifar10Test, KeepsThePlaceOfEveryPixel) {
  const ScratchFolder folder;
  std::string record(3073, '\0');
  record[1 + 1024 + 5 * 32 + 7] = 'g';  // green, row 5, column 7
  folder.Write("data_batch_1.bin", record);
  folder.Write("test_batch.bin", record);
  const absl::StatusOr<TrainTest> data = ReadCifar10(folder.path(), {});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(ImageOf(*data->train, 0)[(5 * 32 + 7) * 3 + 1], 'g');
}

TEST(Cifar10Test, BrokenFoldersAreRefused) {
  const ScratchFolder folder;
  EXPECT_THAT(Refusal(folder), HasSubstr("expected files data_batch_*.bin, found none"));
  folder.Write("data_batch_1.bin", Record(1, 'a', 'b', 'c').substr(1));
  EXPECT_THAT(Refusal(folder), HasSubstr("data_batch_1.bin: expected records of 3073 bytes, found "
                                         "3072 bytes, which is 0 records and 3072 bytes"));
  folder.Write("data_batch_1.bin", "");
  EXPECT_THAT(Refusal(folder), HasSubstr("found 0 bytes"));
  folder.Write("data_batch_1.bin", Record(1, 'a', 'b', 'c') + Record(10, 'a', 'b', 'c'));
  EXPECT_THAT(Refusal(folder), HasSubstr("data_batch_1.bin: sample 1: expected a label below 10, "
                                         "found 10"));
  folder.Write("data_batch_1.bin", Record(1, 'a', 'b', 'c'));
  EXPECT_THAT(Refusal(folder), HasSubstr("test_batch.bin"));
}

TEST(Cifar10Test, AMissingFolderIsNamed) {
  const absl::Status status = ReadCifar10("/nonexistent/cifar", {}).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/nonexistent/cifar: cannot list the folder: No such file"));
}

}  // namespace
}  // namespace grapevine
