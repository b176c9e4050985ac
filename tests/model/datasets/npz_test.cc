#include "model/datasets/npz.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/data/dataset_batches.h"
#include "model/datasets/dataset_kind.h"
#include "tests/model/datasets/image_of.h"
#include "tests/model/datasets/write_npz.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::FloatEq;
using ::testing::HasSubstr;

template <typename Number>
std::string Elements(const std::vector<Number>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)};
}

std::string Swapped(std::string elements, size_t size) {
  for (size_t at = 0; at < elements.size(); at += size) {
    std::reverse(elements.begin() + static_cast<std::ptrdiff_t>(at),
                 elements.begin() + static_cast<std::ptrdiff_t>(at + size));
  }
  return elements;
}

class NpzTest : public ::testing::Test {
 protected:
  absl::StatusOr<TrainTest> Read(const NpzOptions& options = {}) const {
    return ReadNpz(WriteNpz(folder_.File("data.npz"), arrays_), options);
  }
  std::string WhyNot(const NpzOptions& options = {}) const {
    const absl::Status status = Read(options).status();
    EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
    return std::string(status.message());
  }
  // The same with one array replaced.
  std::string WhyNot(const std::string& name, const std::string& array) {
    const std::string before = arrays_[name];
    arrays_[name] = array;
    const std::string why = WhyNot();
    EXPECT_THAT(why, ::testing::StartsWith(folder_.File("data.npz") + ": " + name + ": "));
    arrays_[name] = before;
    return why;
  }

  // Three training images of 2 x 2 and a test image.
  std::map<std::string, std::string> arrays_ = {
      {"x_train", Npy("|u1", "(3, 2, 2)", "abcdefghijkl")},
      {"y_train", Npy("|u1", "(3,)", {4, 0, 2})},
      {"x_test", Npy("|u1", "(1, 2, 2)", "mnop")},
      {"y_test", Npy("|u1", "(1,)", {1})}};
  const ScratchFolder folder_;
};

TEST_F(NpzTest, ReadsBytesStoredOrCompressed) {
  arrays_["x_validation"] = "whatever";
  for (const bool compressed : {false, true}) {
    const std::string path = WriteNpz(folder_.File("data.npz"), arrays_, compressed);
    const absl::StatusOr<TrainTest> data = MakeDataset("npz:" + path);
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->train->size(), 3);
    EXPECT_EQ(data->test->size(), 1);
    EXPECT_EQ(data->train->traits().shape, (ImageShape{2, 2, 1}));
    EXPECT_EQ(data->train->traits().classes, 5);
    EXPECT_THAT(data->train->labels(), ElementsAre(4, 0, 2));
    EXPECT_THAT(ImageOf(*data->train, 1), ElementsAre('e', 'f', 'g', 'h'));
    EXPECT_THAT(ImageOf(*data->test, 0), ElementsAre('m', 'n', 'o', 'p'));
  }
}

TEST_F(NpzTest, BytesAreNormalizedByTheTrainingImagesUnlessToldOtherwise) {
  // Two channels: 0 and 255, and always 51.
  arrays_["x_train"] = Npy("|u1", "(1, 1, 2, 2)", {'\0', 51, '\xff', 51});
  arrays_["y_train"] = Npy("|u1", "(1,)", {0});
  arrays_["x_test"] = arrays_["x_train"];
  absl::StatusOr<TrainTest> data = Read({.channels = 2});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->traits().shape, (ImageShape{1, 2, 2}));
  EXPECT_THAT(data->train->traits().normalization.mean, ElementsAre(0.5f, 0.2f));
  EXPECT_THAT(data->train->traits().normalization.deviation, ElementsAre(0.5f, 1.0f))
      << "a channel without variation is not divided by 0";
  data = MakeDataset("npz:" + folder_.File("data.npz") + ":mean=0.25:std=1/2:classes=7:channels=2");
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(data->train->traits().normalization.mean, ElementsAre(0.25f, 0.25f));
  EXPECT_THAT(data->train->traits().normalization.deviation, ElementsAre(1.0f, 2.0f));
  EXPECT_EQ(data->train->traits().classes, 7);
  EXPECT_THAT(WhyNot({.channels = 2, .mean = {1, 2, 3}}),
              HasSubstr("its images have 2 channel(s), mean= has 3 values"));
}

// The batch that the samples of a set make.
std::vector<float> BatchOf(const std::shared_ptr<const Dataset>& data) {
  Batch batch;
  EXPECT_TRUE(EvaluationBatches(data, data->size()).Fill(0, &batch).ok());
  return {batch.images.begin(), batch.images.end()};
}

TEST_F(NpzTest, FloatsStayAsTheyAreInEitherByteOrderAndPrecision) {
  const std::vector<float> features = {-1.5f, 0.1f, 3e-7f, 1e20f};
  const std::vector<double> precise(features.begin(), features.end());
  const std::string single = Elements(features), twice = Elements(precise);
  arrays_["y_train"] = Npy("<i8", "(2, 1)", Elements<int64_t>({1, 0}));
  arrays_["y_test"] = Npy(">i4", "(2,)", Swapped(Elements<int32_t>({2, 1}), 4));
  for (const auto& [type, elements] :
       std::map<std::string, std::string>{{"<f4", single},
                                          {">f4", Swapped(single, 4)},
                                          {"<f8", twice},
                                          {">f8", Swapped(twice, 8)}}) {
    arrays_["x_train"] = arrays_["x_test"] = Npy(type, "(2, 2)", elements);
    const absl::StatusOr<TrainTest> data = Read();
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->train->traits().shape, (ImageShape{1, 2, 1}));
    EXPECT_EQ(BatchOf(data->train), features) << type;
    EXPECT_THAT(data->train->labels(), ElementsAre(1, 0));
    EXPECT_THAT(data->test->labels(), ElementsAre(2, 1));
    EXPECT_EQ(data->train->bytes(), 16 + 4);
  }
  const absl::StatusOr<TrainTest> shifted = Read({.mean = {0.5}, .deviation = {2}});
  ASSERT_TRUE(shifted.ok()) << shifted.status();
  EXPECT_FLOAT_EQ(BatchOf(shifted->train)[0], -1);
}

TEST_F(NpzTest, FloatsAreMovedWholeByAugmentation) {
  std::vector<float> image(8 * 8);
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i) + 0.5f;
  arrays_["x_train"] = arrays_["x_test"] = Npy("<f4", "(1, 8, 8)", Elements(image));
  arrays_["y_train"] = Npy("|u1", "(1,)", {0});
  const absl::StatusOr<TrainTest> data = Read({.augment = true});
  ASSERT_TRUE(data.ok()) << data.status();
  ImageScratch scratch;
  int others = 0;
  for (uint64_t bits = 0; bits < 20; ++bits) {
    const auto varied = data->train->VariedImage(0, bits * 0x9e3779b97f4a7c15, &scratch);
    ASSERT_TRUE(varied.ok());
    std::vector<float> pixels(64);
    ASSERT_EQ(varied->size(), pixels.size() * sizeof(float));
    std::memcpy(pixels.data(), varied->data(), varied->size());
    for (const float pixel : pixels) {
      EXPECT_TRUE(pixel == 0 || pixel == std::floor(pixel) + 0.5f) << pixel;
    }
    others += pixels != image;
  }
  EXPECT_GT(others, 10);
}

TEST_F(NpzTest, ArraysThatAreNoDataSetAreRefusedWithTheRemedy) {
  EXPECT_THAT(WhyNot("x_train", Npy("<i8", "(3, 2, 2)", std::string(96, 'a'))),
              HasSubstr("expected images of type uint8, float32 or float64, found <i8; save "
                        "x.astype('float32')"));
  EXPECT_THAT(WhyNot("x_train", Npy("|u1", "(3,)", "abc")), HasSubstr("found (3,)"));
  EXPECT_THAT(WhyNot("x_train", Npy("|u1", "(3, 3, 8, 8)", std::string(576, 'a'))),
              HasSubstr("save x.transpose(0, 2, 3, 1)"));
  EXPECT_THAT(WhyNot("x_train", Npy("|u1", "(3, 3, 8, 12)", std::string(864, 'a'))),
              HasSubstr("its shape (3, 3, 8, 12) has 12 channels, images have 1, 3 or 4; if they "
                        "come before rows save x.transpose(0, 2, 3, 1), else say channels=12"));
  EXPECT_THAT(WhyNot({.channels = 3}),
              HasSubstr("its shape (3, 2, 2) has 1 channel(s), not channels=3"));
  EXPECT_THAT(WhyNot("x_train", Npy("|u1", "(1, 1, 1, 4097)", std::string(4097, 'a'))),
              HasSubstr("more than 4096 channels; save x.reshape(len(x), -1)"));
  EXPECT_THAT(
      WhyNot("x_train", Npy("<f4", "(3, 2, 2)", Elements(std::vector<float>(12, std::nanf(""))))),
      HasSubstr("NaN, infinite"));
  EXPECT_THAT(WhyNot("x_train", Npy("<f8", "(3, 2, 2)", Elements(std::vector<double>(12, 1e300)))),
              HasSubstr("too large for float32"));
  EXPECT_THAT(WhyNot("x_test", Npy("|u1", "(1, 3, 2)", "abcdef")),
              HasSubstr("expected images of 2 x 2 x 1 bytes, like x_train, found 3 x 2 x 1 bytes"));
  EXPECT_THAT(WhyNot("x_test", Npy("<f4", "(1, 2, 2)", std::string(16, '\0'))),
              HasSubstr("2 x 2 x 1 floats"));
  EXPECT_THAT(WhyNot("y_train", Npy("<f4", "(3,)", std::string(12, '\0'))),
              HasSubstr("save y.astype('int64')"));
  EXPECT_THAT(WhyNot("y_train", Npy("|u1", "(3, 2)", std::string(6, '\0'))),
              HasSubstr("found (3, 2); of one-hot rows save y.argmax(1)"));
  EXPECT_THAT(WhyNot("y_train", Npy("<f4", "(3, 2)", std::string(24, '\0'))),
              HasSubstr("found (3, 2); of one-hot rows save y.argmax(1)"));
  EXPECT_THAT(WhyNot("y_train", Npy("|u1", "(2,)", std::string(2, '\0'))),
              HasSubstr("expected the shape (3,), a label for each image, found (2,)"));
  EXPECT_THAT(WhyNot("y_train", Npy("|i1", "(3,)", {0, -1, 0})),
              HasSubstr("sample 1: expected a label from 0 to 65535, found -1"));
  EXPECT_THAT(WhyNot("y_train", Npy("<u8", "(3,)", std::string(24, '\xff'))),
              HasSubstr("sample 0: expected a label from 0 to 65535, found 18446744073709551615"));
  EXPECT_THAT(WhyNot({.classes = 4}), HasSubstr("y_train: sample 0: expected a label below 4"));
  arrays_["x_train"] = arrays_["x_test"] = Npy("|u1", "(1, 4)", "abcd");
  arrays_["y_train"] = Npy("|u1", "(1,)", {0});
  EXPECT_THAT(WhyNot({.augment = true}), HasSubstr("augment=yes is for images"));
  arrays_.erase("y_test");
  arrays_["X\ntest"] = "";
  EXPECT_THAT(WhyNot(), AllOf(HasSubstr("there is no y_test, only X\\x0atest, x_test, x_train")));
}

TEST_F(NpzTest, ImagesHaveOneThreeOrFourChannelsOrThoseThatAreSaid) {
  for (const int64_t channels : {1, 3, 4, 12}) {
    arrays_["x_train"] = arrays_["x_test"] =
        Npy("|u1", "(1, 3, 8, " + std::to_string(channels) + ")",
            std::string(static_cast<size_t>(24 * channels), 'a'));
    arrays_["y_train"] = Npy("|u1", "(1,)", {0});
    const absl::StatusOr<TrainTest> data = Read({.channels = channels == 12 ? channels : 0});
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->train->traits().shape, (ImageShape{3, 8, channels}));
  }
}

TEST_F(NpzTest, BrokenArchivesAreRefused) {
  EXPECT_THAT(std::string(ReadNpz(folder_.File("none.npz"), {}).status().message()),
              AllOf(HasSubstr("none.npz: cannot open it"), HasSubstr("No such file")));
  EXPECT_EQ(FailureOf(ReadNpz(folder_.path(), {}).status()), Failure::kInput);
  EXPECT_THAT(std::string(ReadNpz(folder_.Write("text.npz", "no archive"), {}).status().message()),
              HasSubstr("Not a zip archive"));
  // A byte of an image, changed: its CRC is no longer right.
  const std::string path = WriteNpz(folder_.File("data.npz"), arrays_);
  std::string bytes(std::istreambuf_iterator<char>(std::ifstream(path).rdbuf()), {});
  bytes[bytes.find("abcdefghijkl")] = 'b';
  folder_.Write("data.npz", bytes);
  const absl::Status status = ReadNpz(path, {}).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("x_train: cannot read it: CRC error"));
}

TEST_F(NpzTest, SpecsAreCheckedBeforeFiles) {
  const auto refusal = [](const std::string& spec) {
    const absl::Status status = MakeDataset(spec).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
    return std::string(status.message());
  };
  EXPECT_THAT(refusal("npz"), HasSubstr("expected a file, as in npz:FILE"));
  EXPECT_THAT(refusal("npz:f:mean=x"), HasSubstr("mean is a number, or numbers separated by '/'"));
  EXPECT_THAT(refusal("npz:f:std=1/0"), HasSubstr("all positive"));
  EXPECT_THAT(refusal("npz:f:classes=1"), HasSubstr("less than 2"));
  EXPECT_THAT(refusal("npz:f:augment=maybe"), HasSubstr("not one of no, yes"));
}

// As numpy 1.24 wrote them (record_npz): with the ZIP64 fields that its writer always uses.
TEST(RecordedNpz, NumpysOwnFilesAreRead) {
  for (const char* name : {"stored.npz", "compressed.npz"}) {
    const absl::StatusOr<TrainTest> data =
        ReadNpz(std::string("tests/model/datasets/npz/") + name, {});
    ASSERT_TRUE(data.ok()) << data.status();
    EXPECT_EQ(data->train->size(), 6);
    EXPECT_EQ(data->train->traits().shape, (ImageShape{2, 3, 1}));
    EXPECT_THAT(data->train->labels(), ElementsAre(0, 1, 2, 0, 1, 2));
    EXPECT_THAT(ImageOf(*data->train, 5), ElementsAre(30, 31, 32, 33, 34, 35));
    EXPECT_THAT(data->test->labels(), ElementsAre(2, 1));
  }
}

}  // namespace
}  // namespace grapevine
