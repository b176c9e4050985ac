#include "model/datasets/dataset_kind.h"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/data/dataset.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

std::string Refusal(const std::string& spec) {
  const absl::Status status = MakeDataset(spec).status();
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  return std::string(status.message());
}

TEST(DatasetKindTest, MakesTheBuiltInSet) {
  const absl::StatusOr<TrainTest> data = MakeDataset("synthetic:train=50:test=20:seed=3");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->size(), 50);
  EXPECT_EQ(data->test->size(), 20);
}

TEST(DatasetKindTest, BadSpecsAreUsageErrors) {
  EXPECT_THAT(Refusal("imagenet"), HasSubstr("imagenet: unknown data set 'imagenet'; known: "
                                             "cifar10:DIR[:augment=no], image-folder:DIR"));
  EXPECT_THAT(Refusal("mnist"), HasSubstr("mnist: expected a folder, as in mnist:DIR"));
  EXPECT_THAT(Refusal("cifar10"), HasSubstr("cifar10: expected a folder, as in cifar10:DIR"));
  EXPECT_THAT(Refusal("image-folder"), HasSubstr("expected a folder, as in image-folder:DIR"));
  EXPECT_THAT(Refusal("image-folder:dir:size=64:resize=63"), HasSubstr("less than 64"));
  EXPECT_THAT(Refusal("image-folder:dir:classes=1"), HasSubstr("less than 2"));
  EXPECT_THAT(Refusal("cifar10:dir:augment=maybe"), HasSubstr("'maybe' is not one of yes, no"));
  EXPECT_THAT(Refusal("synthetic:train=0"), HasSubstr("less than 1"));
  EXPECT_THAT(Refusal("synthetic:size=9"), HasSubstr("unknown option 'size'"));
}

TEST(DatasetKindTest, MissingFilesAreInputErrors) {
  EXPECT_EQ(FailureOf(MakeDataset("mnist:/nonexistent").status()), Failure::kInput);
  EXPECT_EQ(FailureOf(MakeDataset("cifar10:/nonexistent").status()), Failure::kInput);
  EXPECT_EQ(FailureOf(MakeDataset("image-folder:/nonexistent").status()), Failure::kInput);
}

TEST(DatasetKindTest, FindsADataSetOfOnesOwn) {
  const auto read = [](const Spec& spec) -> absl::StatusOr<TrainTest> {
    SpecReader reader(spec);
    const auto label = static_cast<Label>(reader.Integer("label", 0, 0, 1));
    RETURN_IF_ERROR(reader.Finish());
    const DatasetTraits traits{.name = "constant",
                               .shape = {1, 1, 1},
                               .classes = 2,
                               .normalization = {.mean = {0}, .deviation = {1}}};
    const auto data = std::make_shared<const MemoryDataset>(traits, std::vector<uint8_t>{7},
                                                            std::vector<Label>{label});
    return TrainTest{data, data};
  };
  Datasets().Add({.name = "constant", .help = "one sample", .read = read});
  const absl::StatusOr<TrainTest> data = MakeDataset("constant:label=1");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->labels()[0], 1);
  EXPECT_THAT(Refusal("constant:label=2"), HasSubstr("more than 1"));
}

// The real data sets, where TEST_DATA names a folder that holds them.
class RealDataTest : public ::testing::Test {
 protected:
  std::string Folder(const std::string& name) {
    const char* data = std::getenv("TEST_DATA");
    return data == nullptr ? "" : (std::filesystem::path(data) / name).string();
  }
};

std::vector<int> ClassCounts(const Dataset& data) {
  std::vector<int> counts(10);
  for (Label label : data.labels()) ++counts[label];
  return counts;
}

TEST_F(RealDataTest, Mnist) {
  if (Folder("mnist").empty()) GTEST_SKIP() << "TEST_DATA is not set";
  const absl::StatusOr<TrainTest> data = MakeDataset("mnist:" + Folder("mnist"));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->size(), 60000);
  EXPECT_EQ(data->test->size(), 10000);
  EXPECT_EQ(data->train->traits().shape, (ImageShape{28, 28, 1}));
  EXPECT_EQ(ClassCounts(*data->train),
            (std::vector<int>{5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949}));
}

TEST_F(RealDataTest, Cifar10) {
  if (Folder("cifar-10-batches-bin").empty()) GTEST_SKIP() << "TEST_DATA is not set";
  const absl::StatusOr<TrainTest> data = MakeDataset("cifar10:" + Folder("cifar-10-batches-bin"));
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_GT(data->train->size(), 0);
  EXPECT_EQ(data->train->traits().shape, (ImageShape{32, 32, 3}));
  // CIFAR-10 is balanced, as is every part of it that is worth training on.
  for (int count : ClassCounts(*data->test)) {
    EXPECT_NEAR(count, static_cast<double>(data->test->size()) / 10,
                0.02 * static_cast<double>(data->test->size()));
  }
}

}  // namespace
}  // namespace grapevine
