#include "report/sample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace grapevine {
namespace {

constexpr Unit kNone = {"", 1};

std::string TextOfSample(double mean, double deviation, const Unit& unit = kNone) {
  return SampleText({.count = 3, .mean = mean, .deviation = deviation}, unit);
}

TEST(Sample, DividesTheSquaresByOneLessThanTheCount) {
  // The mean is 5, the squares are 9, 1, 1, 1, 0, 0, 4, 16: 32 together.
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const auto sample = SampleOf(values);
  ASSERT_TRUE(sample && sample->deviation);
  EXPECT_EQ(sample->count, 8u);
  EXPECT_DOUBLE_EQ(sample->mean, 5);
  EXPECT_DOUBLE_EQ(*sample->deviation, std::sqrt(32.0 / 7));
}

TEST(Sample, OfOneValueHasNoDeviationAndOfNoneIsNone) {
  EXPECT_FALSE(SampleOf({}).has_value());
  const std::vector<double> one = {3};
  const auto sample = SampleOf(one);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->mean, 3);
  EXPECT_FALSE(sample->deviation);
}

TEST(Sample, KeepsItsDeviationWhereTheMeanIsLargeBesideIt) {
  const std::vector<double> values = {1e9 + 4, 1e9 + 7, 1e9 + 13};
  EXPECT_DOUBLE_EQ(*SampleOf(values)->deviation, std::sqrt(21.0));
}

TEST(SampleText, HasTwoFiguresOfTheDeviation) {
  EXPECT_EQ(TextOfSample(0.985, 0.00123, {"%", 0.01}), "98.50 \u00b1 0.12 %");
  EXPECT_EQ(TextOfSample(20.06, 1.234), "20.1 \u00b1 1.2");
  EXPECT_EQ(TextOfSample(98.6, 12.3), "99 \u00b1 12");
  EXPECT_EQ(TextOfSample(1.5, 0.0996), "1.50 \u00b1 0.10") << "rounded up to the next decimal";
  EXPECT_EQ(TextOfSample(7380, 180, {"h", 3600}), "2.050 \u00b1 0.050 h");
}

TEST(SampleText, NeverWritesMoreThanTheMeanIsWorth) {
  EXPECT_EQ(TextOfSample(2e6, 0, {"MB", 1e6}), "2.00 \u00b1 0.00 MB");
  EXPECT_EQ(TextOfSample(2e6, 0.1, {"MB", 1e6}), "2.0000 \u00b1 0.0000 MB");
  EXPECT_EQ(TextOfSample(0, 0), "0.00 \u00b1 0.00");
  EXPECT_EQ(TextOfSample(0.01, 400), "0 \u00b1 400");
}

TEST(SampleText, GivesSmallAndLargeMeansAnExponent) {
  EXPECT_EQ(TextOfSample(1.2e-5, 3.1e-6), "(1.20 \u00b1 0.31)e-05");
  EXPECT_EQ(TextOfSample(-4e7, 2e6), "(-4.00 \u00b1 0.20)e+07");
  EXPECT_EQ(TextOfSample(0.001, 0.0001), "0.00100 \u00b1 0.00010");
}

}  // namespace
}  // namespace grapevine
