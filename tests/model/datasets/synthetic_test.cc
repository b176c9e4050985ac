#include "model/datasets/synthetic.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "tests/model/datasets/image_of.h"

namespace grapevine {
namespace {

// FNV-1a over pixels and labels.
uint64_t Fingerprint(const Dataset& data) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3u; };
  for (int64_t i = 0; i < data.size(); ++i) {
    for (uint8_t pixel : ImageOf(data, i)) add(pixel);
    add(static_cast<uint8_t>(data.labels()[i]));
  }
  return hash;
}

TEST(SyntheticTest, HasTheSameBytesOnEveryMachine) {
  const TrainTest data = MakeSynthetic({.train = 1000, .test = 100});
  EXPECT_EQ(Fingerprint(*data.train), 9054089889236987240u);
  EXPECT_EQ(Fingerprint(*data.test), 5295991733019586608u);
}

TEST(SyntheticTest, ASmallerSetIsABeginningOfALargerOne) {
  const TrainTest small = MakeSynthetic({.train = 20, .test = 10});
  const TrainTest large = MakeSynthetic({.train = 30, .test = 10});
  for (int64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(ImageOf(*small.train, i), ImageOf(*large.train, i)) << i;
  }
}

TEST(SyntheticTest, SeedsPartsAndSamplesDiffer) {
  const TrainTest one = MakeSynthetic({.train = 100, .test = 100, .seed = 1});
  const TrainTest two = MakeSynthetic({.train = 100, .test = 100, .seed = 2});
  EXPECT_NE(Fingerprint(*one.train), Fingerprint(*two.train));
  EXPECT_NE(Fingerprint(*one.train), Fingerprint(*one.test));
  EXPECT_NE(ImageOf(*one.train, 0), ImageOf(*one.train, 10));
}

TEST(SyntheticTest, ClassesAreEquallyFrequent) {
  const TrainTest data = MakeSynthetic({.train = 200, .test = 10});
  std::vector<int> count(10);
  for (Label label : data.train->labels()) ++count[label];
  EXPECT_EQ(count, std::vector<int>(10, 20));
}

TEST(SyntheticTest, EverySampleShowsInk) {
  const TrainTest data = MakeSynthetic({.train = 1000, .test = 1});
  for (int64_t i = 0; i < data.train->size(); ++i) {
    const auto pixels = ImageOf(*data.train, i);
    EXPECT_GT(std::ranges::count_if(pixels, [](uint8_t pixel) { return pixel > 120; }), 12) << i;
  }
}

}  // namespace
}  // namespace grapevine
