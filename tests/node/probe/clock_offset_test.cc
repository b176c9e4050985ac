#include "node/probe/clock_offset.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Asked at `asked` of a clock that is `ahead`, with so long there and back.
ClockSample Sample(nanoseconds asked, nanoseconds ahead, nanoseconds there, nanoseconds back,
                   nanoseconds thinking = milliseconds(1)) {
  const nanoseconds heard = asked + there + ahead;
  return {.asked = asked,
          .heard = heard,
          .answered = heard + thinking,
          .back = asked + there + thinking + back};
}

TEST(ClockOffset, IsExactWhereBothWaysTakeAsLong) {
  const std::vector<ClockSample> samples = {
      Sample(milliseconds(5000), milliseconds(-1234), milliseconds(10), milliseconds(10))};
  const auto offset = OffsetOf(samples);
  ASSERT_TRUE(offset);
  EXPECT_EQ(offset->ahead, milliseconds(-1234));
  EXPECT_EQ(offset->error, milliseconds(10));
}

// Whatever the ways take, the error bounds how wrong it is.
TEST(ClockOffset, IsWithinItsErrorWhereTheyDoNot) {
  for (const int there : {0, 1, 7, 40}) {
    for (const int back : {0, 3, 25}) {
      const std::vector<ClockSample> samples = {
          Sample(milliseconds(100), milliseconds(700), milliseconds(there), milliseconds(back))};
      const auto offset = OffsetOf(samples);
      ASSERT_TRUE(offset);
      EXPECT_LE(std::chrono::abs(offset->ahead - milliseconds(700)), offset->error);
      EXPECT_EQ(offset->error, nanoseconds(milliseconds(there + back)) / 2);
    }
  }
}

TEST(ClockOffset, TheQuickestSampleCounts) {
  const std::vector<ClockSample> samples = {
      Sample(milliseconds(0), milliseconds(5), milliseconds(90), milliseconds(2)),
      Sample(milliseconds(200), milliseconds(5), milliseconds(1), milliseconds(1)),
      Sample(milliseconds(400), milliseconds(5), milliseconds(2), milliseconds(300))};
  EXPECT_EQ(OffsetOf(samples)->error, milliseconds(1));
  EXPECT_EQ(OffsetOf(samples)->ahead, milliseconds(5));
}

TEST(ClockOffset, WhatCannotBeDoesNotCount) {
  constexpr nanoseconds kMost{std::numeric_limits<int64_t>::max()};
  constexpr nanoseconds kLeast{std::numeric_limits<int64_t>::min()};
  EXPECT_FALSE(OffsetOf({}));
  const std::vector<ClockSample> nonsense = {
      {.asked = milliseconds(2), .back = milliseconds(1)},
      {.heard = milliseconds(2), .answered = milliseconds(1), .back = milliseconds(9)},
      {.heard = kMost, .answered = kMost, .back = milliseconds(9)},
      {.heard = kLeast, .answered = kMost, .back = milliseconds(9)}};
  EXPECT_FALSE(OffsetOf(nonsense));
}

// It says that it thought for longer than it was asked.
TEST(ClockOffset, TheErrorIsNeverNegative) {
  const std::vector<ClockSample> samples = {{.asked = milliseconds(0),
                                             .heard = milliseconds(0),
                                             .answered = milliseconds(50),
                                             .back = milliseconds(10)}};
  EXPECT_EQ(OffsetOf(samples)->error, nanoseconds(0));
}

}  // namespace
}  // namespace grapevine
