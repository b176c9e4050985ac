#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/passes/crc32c.h"
#include "model/data/augmentation.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

// What ResizeCrop approximates, in doubles: each pixel is the mean under a triangle.
double Reference(const RgbImage& image, const CropBox& box, int64_t size, int64_t x, int64_t y,
                 int64_t channel) {
  const double step_x = box.width / static_cast<double>(size);
  const double step_y = box.height / static_cast<double>(size);
  const auto weight = [](int64_t pixel, double centre, double step) {
    const double distance = std::abs(static_cast<double>(pixel) + 0.5 - centre);
    return std::max(0.0, 1 - distance / std::max(1.0, step));
  };
  double sum = 0, weights = 0;
  for (int64_t from_y = 0; from_y < image.height; ++from_y) {
    for (int64_t from_x = 0; from_x < image.width; ++from_x) {
      const double w = weight(from_x, box.left + (static_cast<double>(x) + 0.5) * step_x, step_x) *
                       weight(from_y, box.top + (static_cast<double>(y) + 0.5) * step_y, step_y);
      sum += w * image.pixels[static_cast<size_t>(3 * (from_y * image.width + from_x) + channel)];
      weights += w;
    }
  }
  return sum / weights;
}

std::vector<uint8_t> Noise(int64_t width, int64_t height, uint64_t seed) {
  KeyedRandom random(seed, Purpose::kSyntheticData);
  std::vector<uint8_t> pixels(static_cast<size_t>(3 * width * height));
  for (uint8_t& pixel : pixels) pixel = static_cast<uint8_t>(random.Below(256));
  return pixels;
}

std::vector<uint8_t> Resize(const RgbImage& image, const CropBox& box, int64_t size,
                            bool mirrored = false) {
  std::vector<uint8_t> narrowed, out(static_cast<size_t>(3 * size * size));
  ResizeCrop(image, box, size, mirrored, &narrowed, out);
  return out;
}

TEST(ResizeCropTest, IsTheMeanUnderATriangle) {
  for (const uint64_t seed : testing::Seeds(20)) {
    SCOPED_TRACE(seed);
    KeyedRandom random(seed, Purpose::kAugmentation);
    const auto width = static_cast<int64_t>(1 + random.Below(40));
    const auto height = static_cast<int64_t>(1 + random.Below(40));
    const auto size = static_cast<int64_t>(1 + random.Below(20));
    const std::vector<uint8_t> pixels = Noise(width, height, seed);
    const RgbImage image{pixels, width, height};
    const CropBox box = DrawCrop(width, height, &random);
    const std::vector<uint8_t> out = Resize(image, box, size);
    for (int64_t i = 0; i < 3 * size * size; ++i) {
      const double expected = Reference(image, box, size, i / 3 % size, i / 3 / size, i % 3);
      // Rounded twice, once for each direction.
      ASSERT_NEAR(out[static_cast<size_t>(i)], expected, 1.01) << i;
    }
  }
}

TEST(ResizeCropTest, AWholeImageOfItsOwnSizeStays) {
  const std::vector<uint8_t> pixels = Noise(9, 9, 1);
  EXPECT_EQ(Resize({pixels, 9, 9}, {0, 0, 9, 9}, 9), pixels);
}

TEST(ResizeCropTest, MirrorsLeftAndRight) {
  const std::vector<uint8_t> pixels = Noise(20, 15, 1);
  const CropBox box{2.5, 1, 12, 10};
  const std::vector<uint8_t> plain = Resize({pixels, 20, 15}, box, 8);
  const std::vector<uint8_t> mirrored = Resize({pixels, 20, 15}, box, 8, true);
  for (size_t y = 0; y < 8; ++y) {
    for (size_t x = 0; x < 8; ++x) {
      for (size_t c = 0; c < 3; ++c) {
        EXPECT_EQ(mirrored[3 * (8 * y + x) + c], plain[3 * (8 * y + 7 - x) + c]);
      }
    }
  }
}

TEST(ResizeCropTest, HasTheSameBytesOnEveryMachine) {
  const std::vector<uint8_t> pixels = Noise(61, 47, 1);
  KeyedRandom random(1, Purpose::kAugmentation);
  uint32_t crc = 0;
  for (int i = 0; i < 50; ++i) {
    const std::vector<uint8_t> out = Resize({pixels, 61, 47}, DrawCrop(61, 47, &random), 16);
    crc = Crc32c(crc, out.data(), out.size());
  }
  EXPECT_EQ(crc, 3919506868u);
}

TEST(DrawCropTest, StaysInsideAndWithinItsBounds) {
  KeyedRandom random(1, Purpose::kAugmentation);
  double smallest = 1, largest = 0;
  for (int i = 0; i < 2000; ++i) {
    const CropBox box = DrawCrop(100, 80, &random);
    ASSERT_GE(box.left, 0);
    ASSERT_GE(box.top, 0);
    ASSERT_LE(box.left + box.width, 100);
    ASSERT_LE(box.top + box.height, 80);
    const double aspect = box.width / box.height;
    // Extents are rounded to pixels.
    ASSERT_GT(aspect, 0.75 * 0.95);
    ASSERT_LT(aspect, 4.0 / 3 * 1.05);
    const double area = box.width * box.height / 8000;
    smallest = std::min(smallest, area);
    largest = std::max(largest, area);
  }
  EXPECT_NEAR(smallest, 0.08, 0.01);
  EXPECT_GT(largest, 0.9);
}

TEST(DrawCropTest, ImagesThatAreTooLongGiveTheirCentre) {
  KeyedRandom random(1, Purpose::kAugmentation);
  const CropBox wide = DrawCrop(3000, 1, &random);
  EXPECT_DOUBLE_EQ(wide.height, 1);
  EXPECT_DOUBLE_EQ(wide.width, 4.0 / 3);
  EXPECT_DOUBLE_EQ(wide.left, (3000 - 4.0 / 3) / 2);
}

TEST(CentreCropTest, IsAPartOfTheShorterSide) {
  const CropBox box = CentreCrop(500, 256, 224, 256);
  EXPECT_DOUBLE_EQ(box.width, 224);
  EXPECT_DOUBLE_EQ(box.height, 224);
  EXPECT_DOUBLE_EQ(box.left, 138);
  EXPECT_DOUBLE_EQ(box.top, 16);
}

}  // namespace

}  // namespace grapevine
