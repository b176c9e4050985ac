#include "model/datasets/image_folder.h"

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/data/dataset.h"
#include "tests/model/datasets/image_of.h"
#include "tests/model/datasets/write_jpeg.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr ImageFolderOptions kSmall = {.size = 8, .resize = 8};

// An image of one colour.
std::string Plain(int red, int green, int blue) {
  return JpegBytes({.width = 20, .height = 16}, [=](int, int, int channel) {
    return channel == 0 ? red : channel == 1 ? green : blue;
  });
}

// A folder with two classes of two and one training images and one each to test on.
class ImageFolderTest : public ::testing::Test {
 protected:
  ImageFolderTest() {
    Write("train/cat/b.jpg", Plain(200, 10, 10));
    Write("train/cat/a.JPEG", Plain(100, 10, 10));
    Write("train/ant/z.jpeg", Plain(10, 200, 10));
    Write("val/cat/v.jpg", Plain(10, 10, 200));
    Write("val/ant/v.jpg", Plain(10, 10, 100));
  }

  void Write(const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories(std::filesystem::path(folder_.File(name)).parent_path());
    folder_.Write(name, bytes);
  }
  void Remove(const std::string& name) { std::filesystem::remove_all(folder_.File(name)); }

  absl::StatusOr<TrainTest> Read(const ImageFolderOptions& options = kSmall) const {
    return ReadImageFolder(folder_.path(), options);
  }
  std::string Refusal() const {
    const absl::Status status = Read().status();
    EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
    return std::string(status.message());
  }
  std::string Contents() const {
    const absl::StatusOr<TrainTest> data = Read();
    EXPECT_TRUE(data.ok()) << data.status();
    return DescribeContents(*data);
  }

  const ScratchFolder folder_;
};

TEST_F(ImageFolderTest, ClassesAndImagesAreSortedByName) {
  const absl::StatusOr<TrainTest> data = Read();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(data->train->labels(), ElementsAre(0, 1, 1));
  EXPECT_THAT(data->test->labels(), ElementsAre(0, 1));
  EXPECT_EQ(data->train->traits().classes, 2);
  EXPECT_EQ(data->train->traits().shape, (ImageShape{8, 8, 3}));
  EXPECT_NEAR(ImageOf(*data->train, 0)[1], 200, 2);
  EXPECT_NEAR(ImageOf(*data->train, 1)[0], 100, 2);
  EXPECT_NEAR(ImageOf(*data->train, 2)[0], 200, 2);
  EXPECT_NEAR(ImageOf(*data->test, 1)[3 * 63 + 2], 200, 2);
}

TEST_F(ImageFolderTest, PassesOverWhatIsNoImageAndFollowsLinks) {
  Write("train/.cache/x.jpg", "");
  Write("train/cat/.hidden.jpg", "");
  Write("train/cat/notes.txt", "");
  Write("train/README.md", "");
  std::filesystem::create_symlink(folder_.File("val/ant/v.jpg"), folder_.File("train/ant/y.jpg"));
  const absl::StatusOr<TrainTest> data = Read();
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(data->train->labels(), ElementsAre(0, 0, 1, 1));
}

TEST_F(ImageFolderTest, TakesTheFirstClassesAlone) {
  Write("train/dog/a.jpg", Plain(1, 2, 3));
  Write("val/dog/a.jpg", Plain(1, 2, 3));
  ImageFolderOptions options = kSmall;
  options.most_classes = 2;
  const absl::StatusOr<TrainTest> data = Read(options);
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_EQ(data->train->traits().classes, 2);
  EXPECT_EQ(data->test->size(), 2);
}

TEST_F(ImageFolderTest, EvaluationSeesTheCentreOfTheReducedImage) {
  // Columns of one grey each; the shorter side is 64, of which a half is shown.
  Write("val/ant/v.jpg",
        JpegBytes({.width = 128, .height = 64}, [](int x, int, int) { return x * 2; }));
  const absl::StatusOr<TrainTest> data = Read({.size = 8, .resize = 16});
  ASSERT_TRUE(data.ok()) << data.status();
  const std::vector<uint8_t> image = ImageOf(*data->test, 0);
  for (int x = 0; x < 8; ++x) {
    EXPECT_NEAR(image[static_cast<size_t>(3 * x)], 2 * (48 + 4 * x + 1.5), 4) << x;
  }
}

TEST_F(ImageFolderTest, TrainingSeesPartsThatFollowFromTheirBits) {
  Write("train/ant/z.jpeg", JpegBytes({.width = 60, .height = 40},
                                      [](int x, int y, int c) { return 2 * x + 3 * y + c; }));
  const absl::StatusOr<TrainTest> data = Read();
  ASSERT_TRUE(data.ok()) << data.status();
  ImageScratch scratch;
  const auto varied = [&](uint64_t bits) {
    const auto image = data->train->VariedImage(0, bits, &scratch);
    EXPECT_TRUE(image.ok()) << image.status();
    return std::vector<uint8_t>(image->begin(), image->end());
  };
  EXPECT_EQ(varied(1), varied(1));
  EXPECT_NE(varied(1), varied(2));
  int mirrored = 0;
  for (uint64_t bits = 0; bits < 100; ++bits) {
    const std::vector<uint8_t> image = varied(bits);
    mirrored += image[0] > image[3 * 7];
  }
  EXPECT_NEAR(mirrored, 50, 20);  // 4 deviations
  ImageFolderOptions plain = kSmall;
  plain.augment = false;
  EXPECT_TRUE(Read(plain)->train->traits().augmentation.none());
}

TEST_F(ImageFolderTest, ContentsAreNamesAndSizesWhereverTheFolderIs) {
  const std::string contents = Contents();
  EXPECT_THAT(contents, HasSubstr("image-folder: 3 + 2 images of 8x8x3 in 2 classes, cropped and "
                                  "resized, mirrored, checksum "));
  EXPECT_EQ(Contents(), contents);
  EXPECT_NE(DescribeContents(*Read({.size = 8, .resize = 9})), contents);
  Write("val/ant/v.jpg", Plain(10, 10, 100) + "x");
  EXPECT_NE(Contents(), contents);
  Write("val/ant/v.jpg", Plain(10, 10, 100));
  EXPECT_EQ(Contents(), contents);
  std::filesystem::rename(folder_.File("train/cat/b.jpg"), folder_.File("train/cat/c.jpg"));
  EXPECT_NE(Contents(), contents);
}

TEST_F(ImageFolderTest, BrokenImagesAreNamedWhenTheyAreAskedFor) {
  Write("train/cat/b.jpg", "a text");
  const absl::StatusOr<TrainTest> data = Read();
  ASSERT_TRUE(data.ok()) << data.status();
  ImageScratch scratch;
  EXPECT_TRUE(data->train->VariedImage(1, 1, &scratch).ok());
  const absl::Status broken = data->train->VariedImage(2, 1, &scratch).status();
  EXPECT_EQ(FailureOf(broken), Failure::kInput);
  EXPECT_THAT(std::string(broken.message()),
              HasSubstr("train/cat/b.jpg: cannot decode it as JPEG: Not a JPEG file"));
  Remove("train/cat/b.jpg");
  const absl::Status gone = data->train->Image(2, &scratch).status();
  EXPECT_EQ(FailureOf(gone), Failure::kInput);
  EXPECT_THAT(std::string(gone.message()), HasSubstr("train/cat/b.jpg"));
}

TEST_F(ImageFolderTest, FoldersOfAnotherShapeAreRefused) {
  Write("val/bee/v.jpg", Plain(1, 2, 3));
  EXPECT_THAT(Refusal(), HasSubstr("expected the same classes in train and val, but 'bee' is only "
                                   "in val"));
  Remove("val/bee");
  Remove("val/ant");
  EXPECT_THAT(Refusal(), HasSubstr("'ant' is only in train"));
  Remove("val/cat");
  EXPECT_THAT(Refusal(), HasSubstr("val: expected one folder of images for each class, found no "
                                   "folder"));
  Write("val/v.jpg", Plain(1, 2, 3));
  EXPECT_THAT(Refusal(), HasSubstr("found images without one; move each into the folder of its "
                                   "class"));
  Remove("val");
  EXPECT_THAT(Refusal(), HasSubstr("expected the folders train and val, with a folder of images "
                                   "for each class in them; found no val"));
  Remove("train/ant/z.jpeg");
  EXPECT_THAT(Refusal(), HasSubstr("train/ant: expected images (.jpg or .jpeg) of this class, "
                                   "found none"));
  Write("train/ant/z.jpg", "");
  EXPECT_THAT(Refusal(), HasSubstr("train/ant/z.jpg: expected a JPEG image, found an empty file"));
  Remove("train/ant/z.jpg");
  std::filesystem::create_symlink("nowhere", folder_.File("train/ant/z.jpg"));
  EXPECT_THAT(Refusal(), HasSubstr("train/ant/z.jpg: cannot tell its size: No such file"));
}

}  // namespace
}  // namespace grapevine
