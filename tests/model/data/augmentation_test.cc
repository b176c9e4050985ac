#include "model/data/augmentation.h"

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr ImageShape kShape{.height = 2, .width = 3, .channels = 2};
constexpr Augmentation kByOne{.padding = 1, .mirror = true};

std::vector<uint8_t> Vary(const Variation& variation) {
  // Two channels: the second is the first plus 100.
  const std::vector<uint8_t> image = {1, 101, 2, 102, 3, 103, 4, 104, 5, 105, 6, 106};
  std::vector<uint8_t> out(image.size(), 77);
  ApplyVariation(kByOne, variation, kShape, image, out);
  return out;
}

TEST(AugmentationTest, TheCentralCropIsTheImage) {
  EXPECT_EQ(Vary({.top = 1, .left = 1}),
            (std::vector<uint8_t>{1, 101, 2, 102, 3, 103, 4, 104, 5, 105, 6, 106}));
}

TEST(AugmentationTest, ShiftsBringInBlack) {
  EXPECT_EQ(Vary({.top = 0, .left = 2}),
            (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 2, 102, 3, 103, 0, 0}));
  EXPECT_EQ(Vary({.top = 2, .left = 0}),
            (std::vector<uint8_t>{0, 0, 4, 104, 5, 105, 0, 0, 0, 0, 0, 0}));
}

TEST(AugmentationTest, MirrorsTheCrop) {
  EXPECT_EQ(Vary({.top = 1, .left = 1, .mirrored = true}),
            (std::vector<uint8_t>{3, 103, 2, 102, 1, 101, 6, 106, 5, 105, 4, 104}));
  EXPECT_EQ(Vary({.top = 0, .left = 2, .mirrored = true}),
            (std::vector<uint8_t>{0, 0, 0, 0, 0, 0, 0, 0, 3, 103, 2, 102}));
}

TEST(AugmentationTest, DrawsEveryVariationEquallyOften) {
  constexpr int kDraws = 18000;
  KeyedRandom random(/*seed=*/1, Purpose::kAugmentation);
  std::multiset<std::tuple<int64_t, int64_t, bool>> drawn;
  for (int i = 0; i < kDraws; ++i) {
    const Variation v = DrawVariation(kByOne, random.Next());
    drawn.emplace(v.top, v.left, v.mirrored);
  }
  for (int64_t top : {0, 1, 2}) {
    for (int64_t left : {0, 1, 2}) {
      for (bool mirrored : {false, true}) {
        EXPECT_NEAR(static_cast<double>(drawn.count({top, left, mirrored})), kDraws / 18.0, 160);
      }
    }
  }
}

TEST(AugmentationTest, NoneDrawsNothing) {
  const Variation v = DrawVariation({}, ~uint64_t{0});
  EXPECT_EQ(v.top, 0);
  EXPECT_EQ(v.left, 0);
  EXPECT_FALSE(v.mirrored);
}

}  // namespace
}  // namespace grapevine
