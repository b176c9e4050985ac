#include "model/datasets/idx.h"

#include <zlib.h>

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

std::string Idx(const std::vector<int>& shape, const std::string& elements) {
  std::string bytes = {0, 0, 8, static_cast<char>(shape.size())};
  for (int extent : shape) {
    for (int shift : {24, 16, 8, 0}) bytes += static_cast<char>(extent >> shift);
  }
  return bytes + elements;
}

std::string Gzip(const ScratchFolder& folder, const std::string& name, const std::string& bytes) {
  gzFile file = gzopen(folder.File(name).c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return folder.File(name);
}

void Truncate(const std::string& path, int64_t fewer) {
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - fewer);
}

// The message of the error, which must be an input error.
std::string Refusal(const absl::Status& status) {
  EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
  return std::string(status.message());
}

TEST(IdxTest, ReadsPlainAndCompressedAlike) {
  const ScratchFolder folder;
  const std::string bytes = Idx({2, 2, 3}, "abcdefghijkl");
  for (const std::string& path :
       {folder.Write("plain", bytes), Gzip(folder, "compressed", bytes)}) {
    const absl::StatusOr<IdxArray> array = ReadIdx(path, 3);
    ASSERT_TRUE(array.ok()) << array.status();
    EXPECT_THAT(array->shape, ::testing::ElementsAre(2, 2, 3));
    EXPECT_EQ(std::string(array->elements.begin(), array->elements.end()), "abcdefghijkl");
  }
}

TEST(IdxTest, BrokenFilesAreRefusedByName) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::string& bytes, int64_t dimensions = 1) {
    const std::string path = folder.Write("file", bytes);
    const std::string message = Refusal(ReadIdx(path, dimensions).status());
    EXPECT_THAT(message, HasSubstr(path + ": "));
    return message;
  };
  EXPECT_THAT(refusal(""), HasSubstr("expected a header of 4 bytes, found 0"));
  EXPECT_THAT(refusal("GIF89a.."), HasSubstr("begins with two zero bytes"));
  EXPECT_THAT(refusal(std::string("\0\0\x0d\x01", 4)), HasSubstr("unsigned bytes), found 13"));
  EXPECT_THAT(refusal(Idx({1}, "a"), 3),
              HasSubstr("expected 3 dimension(s), found 1; are these labels"));
  EXPECT_THAT(refusal(Idx({1, 1, 1}, "a"), 1),
              HasSubstr("expected 1 dimension(s), found 3; are these images"));
  EXPECT_THAT(refusal(Idx({5}, "abc")),
              HasSubstr("expected 5 = 5 bytes after the header, found 3"));
  EXPECT_THAT(refusal(Idx({2}, "abc")), HasSubstr("found more"));
  EXPECT_THAT(refusal(Idx({2}, "ab").substr(0, 6)), HasSubstr("header of 8 bytes, found 6"));
  EXPECT_THAT(refusal(Idx({0}, "")), HasSubstr("its extents are 0"));
  EXPECT_THAT(refusal(Idx({0x7fffffff, 0x7fffffff, 0x7fffffff}, ""), 3), HasSubstr("at most"));
}

TEST(IdxTest, AHeaderThatPromisesGigabytesCostsNoMemory) {
  const ScratchFolder folder;
  const std::string path = folder.Write("file", Idx({1 << 20, 1 << 8, 1 << 8}, "abc"));
  EXPECT_THAT(Refusal(ReadIdx(path, 3).status()), HasSubstr("found 3"));
}

TEST(IdxTest, TruncatedAndCorruptCompressionIsRefused) {
  const ScratchFolder folder;
  std::string noise;
  for (uint32_t i = 0, state = 1; i < 100'000; ++i, state = state * 1664525 + 1013904223) {
    noise += static_cast<char>(state >> 24);
  }
  const std::string cut = Gzip(folder, "cut.gz", Idx({100'000}, noise));
  Truncate(cut, 50'000);
  EXPECT_THAT(Refusal(ReadIdx(cut, 1).status()), HasSubstr(cut + ": the compressed stream"));
  const std::string corrupt = Gzip(folder, "corrupt.gz", Idx({100'000}, noise));
  std::fstream(corrupt, std::ios::in | std::ios::out | std::ios::binary).seekp(50'000)
      << std::string(1000, 'x');
  EXPECT_THAT(Refusal(ReadIdx(corrupt, 1).status()), HasSubstr(corrupt + ": cannot decompress it"));
}

// A folder as MNIST's: 3 training images and 2 test images of 2 x 2.
void WriteMnist(const ScratchFolder& folder) {
  folder.Write("train-images-idx3-ubyte", Idx({3, 2, 2}, "abcdefghijkl"));
  Gzip(folder, "train-labels-idx1-ubyte.gz", Idx({3}, {9, 0, 4}));
  Gzip(folder, "t10k-images-idx3-ubyte.gz", Idx({2, 2, 2}, "mnopqrst"));
  folder.Write("t10k-labels-idx1-ubyte", Idx({2}, {1, 2}));
}

TEST(MnistTest, ReadsAFolderWithFilesInEitherForm) {
  const ScratchFolder folder;
  WriteMnist(folder);
  const absl::StatusOr<TrainTest> data = ReadMnist(folder.path());
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->size(), 3);
  EXPECT_EQ(data->test->size(), 2);
  EXPECT_EQ(data->train->traits().shape, (ImageShape{2, 2, 1}));
  EXPECT_THAT(data->train->labels(), ::testing::ElementsAre(9, 0, 4));
  EXPECT_THAT(ImageOf(*data->train, 1), ::testing::ElementsAre('e', 'f', 'g', 'h'));
}

TEST(MnistTest, InconsistentFoldersAreRefused) {
  const ScratchFolder folder;
  const auto refusal = [&] { return Refusal(ReadMnist(folder.path()).status()); };
  EXPECT_THAT(refusal(), HasSubstr("expected train-images-idx3-ubyte or "
                                   "train-images-idx3-ubyte.gz, found neither"));
  WriteMnist(folder);
  folder.Write("t10k-images-idx3-ubyte", Idx({2, 1, 4}, "mnopqrst"));
  EXPECT_THAT(refusal(), HasSubstr("images of 2 x 2 like the training set's, found 1 x 4"));
  folder.Write("t10k-labels-idx1-ubyte", Idx({3}, {1, 2, 3}));
  EXPECT_THAT(refusal(), HasSubstr("t10k-labels-idx1-ubyte: expected 2 labels"));
  folder.Write("train-labels-idx1-ubyte", Idx({3}, {1, 10, 3}));
  EXPECT_THAT(refusal(), HasSubstr("train-labels-idx1-ubyte: sample 1: expected a label below 10, "
                                   "found 10"));
}

}  // namespace
}  // namespace grapevine
