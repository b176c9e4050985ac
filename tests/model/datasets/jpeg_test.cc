#include "model/datasets/jpeg.h"

#include <cstdlib>
#include <string>
#include <vector>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/model/datasets/write_jpeg.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

std::span<const uint8_t> Bytes(const std::string& file) {
  return {reinterpret_cast<const uint8_t*>(file.data()), file.size()};
}

// Smooth, and different in every channel and direction.
int Slope(int x, int y, int channel) { return 40 + 3 * x + 2 * y + 20 * channel; }

std::string RefusedPixels(const std::string& file) {
  std::vector<uint8_t> pixels;
  const absl::Status status = DecodeJpeg("a.jpg", Bytes(file), 1, &pixels).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput) << status;
  return std::string(status.message());
}

// Decodes `file` whole and compares it with red, green and blue of each pixel.
void ExpectPixels(const std::string& file, const ImageExtent& extent,
                  const std::function<int(int x, int y, int channel)>& expected) {
  std::vector<uint8_t> pixels;
  const absl::StatusOr<ImageExtent> decoded = DecodeJpeg("a.jpg", Bytes(file), 1, &pixels);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  ASSERT_EQ(*decoded, extent);
  EXPECT_EQ(*JpegExtent("a.jpg", Bytes(file)), extent);
  ASSERT_EQ(static_cast<int64_t>(pixels.size()), 3 * extent.width * extent.height);
  for (size_t i = 0; i < pixels.size(); ++i) {
    const auto pixel = static_cast<int>(i) / 3;
    const int width = static_cast<int>(extent.width);
    EXPECT_NEAR(pixels[i], expected(pixel % width, pixel / width, static_cast<int>(i) % 3), 3) << i;
  }
}

TEST(JpegTest, DecodesColourBaselineAndProgressive) {
  for (const bool progressive : {false, true}) {
    ExpectPixels(JpegBytes({.width = 19, .height = 13, .progressive = progressive}, Slope),
                 {19, 13}, Slope);
  }
}

TEST(JpegTest, GreyBecomesThreeEqualChannels) {
  ExpectPixels(JpegBytes({.pixels = JCS_GRAYSCALE, .file = JCS_GRAYSCALE}, Slope), {16, 16},
               [](int x, int y, int) { return Slope(x, y, 0); });
}

TEST(JpegTest, InksBecomeLight) {
  // Inks 60 .. 160 and a quarter of black, as plain CMYK; Adobe writes 255 minus that.
  const auto ink = [](int x, int y, int channel) {
    return channel == 3 ? 64 : Slope(x, y, channel);
  };
  const auto light = [&](int x, int y, int channel) {
    return (255 - ink(x, y, channel)) * (255 - 64) / 255;
  };
  const auto inverted = [&](int x, int y, int channel) { return 255 - ink(x, y, channel); };
  ExpectPixels(JpegBytes({.pixels = JCS_CMYK, .file = JCS_CMYK}, ink), {16, 16}, light);
  for (const J_COLOR_SPACE file : {JCS_CMYK, JCS_YCCK}) {
    ExpectPixels(JpegBytes({.pixels = JCS_CMYK, .file = file, .adobe = true}, inverted), {16, 16},
                 light);
  }
}

TEST(JpegTest, ReducesWhileItDecodes) {
  const std::string file = JpegBytes(
      {.width = 33, .height = 20}, [](int x, int y, int c) { return 20 + 4 * x + 2 * y + 10 * c; });
  std::vector<uint8_t> pixels;
  for (const int denominator : {2, 4, 8}) {
    const absl::StatusOr<ImageExtent> extent =
        DecodeJpeg("a.jpg", Bytes(file), denominator, &pixels);
    ASSERT_TRUE(extent.ok()) << extent.status();
    EXPECT_EQ(*extent, (ImageExtent{(33 + denominator - 1) / denominator,
                                    (20 + denominator - 1) / denominator}));
    // The first pixel is the mean of a square.
    EXPECT_NEAR(pixels[0], 20 + 3 * (denominator - 1), 4) << denominator;
  }
}

TEST(JpegTest, BrokenFilesAreRefused) {
  EXPECT_THAT(RefusedPixels(""), HasSubstr("a.jpg: expected a JPEG image, found an empty file"));
  EXPECT_THAT(RefusedPixels("a text"),
              HasSubstr("a.jpg: cannot decode it as JPEG: Not a JPEG file"));
  EXPECT_THAT(RefusedPixels("\x89PNG\r\n\x1a\n"), HasSubstr("starts with 0x89 0x50"));
  const std::string file = JpegBytes({.width = 64, .height = 64}, [](int x, int y, int c) {
    return (x * 37 + y * 91 + c * 55) % 256;
  });
  EXPECT_THAT(RefusedPixels(file.substr(0, 100)), HasSubstr("Premature end"));
  EXPECT_THAT(RefusedPixels(file.substr(0, file.size() / 2)), HasSubstr("Premature end"));
  EXPECT_THAT(RefusedPixels(file.substr(0, file.size() - 2)), HasSubstr("Premature end"));
  std::string overwritten = file;
  overwritten.replace(file.size() / 2, 40, 40, '\xff');
  EXPECT_THAT(RefusedPixels(overwritten), HasSubstr("cannot decode it as JPEG"));
}

TEST(JpegTest, AFloodOfPixelsIsRefusedBeforeItIsDecoded) {
  std::string file = JpegBytes({}, Slope);
  const size_t frame = file.find("\xff\xc0");
  ASSERT_NE(frame, std::string::npos);
  file.replace(frame + 5, 4, "\x80\x01\x80\x01");
  const absl::Status status = JpegExtent("a.jpg", Bytes(file)).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("a.jpg: its 32769 x 32769 pixels"));
}

}  // namespace
}  // namespace grapevine
