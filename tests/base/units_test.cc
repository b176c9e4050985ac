#include "base/units.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"

namespace grapevine {
namespace {

using std::chrono::nanoseconds;
using ::testing::HasSubstr;

TEST(ParseSize, KnowsDecimalAndBinaryUnits) {
  EXPECT_EQ(*ParseSize("4096"), 4096);
  EXPECT_EQ(*ParseSize("1.08MB"), 1080000);
  EXPECT_EQ(*ParseSize("1MiB"), 1048576);
  EXPECT_EQ(*ParseSize("0.5KiB"), 512);
  EXPECT_EQ(*ParseSize("2TB"), 2000000000000);
  EXPECT_EQ(*ParseSize("9223372036854775807B"), INT64_MAX);
}

TEST(ParseSize, IsExactBeyondTheDigitsOfADouble) {
  EXPECT_EQ(*ParseSize("9007199254740993B"), 9007199254740993);
}

TEST(ParseSize, RoundsToTheNearestByte) { EXPECT_EQ(*ParseSize("1.3MiB"), 1363149); }

TEST(ParseSize, RefusesWhatIsNoSize) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "does not begin with a decimal number"},
      {"MB", "does not begin with a decimal number"},
      {"1.MB", "does not begin with a decimal number"},
      {".5MB", "does not begin with a decimal number"},
      {"1e6", "unknown unit \"e6\""},
      {"1 MB", "unknown unit \" MB\""},
      {"1Mb", "unknown unit \"Mb\""},
      {"1.2.3MB", "unknown unit \".3MB\""},
      {"-1MB", "negative"},
      {"9223372036854775808B", "too large"},
      {"9223372036855TB", "too large"},
      {"9999999999999999999999999999999999TB", "does not begin with a decimal number"},
      {"0.0001B", "smaller than the smallest unit"},
  };
  for (const auto& [text, why] : cases) {
    const auto size = ParseSize(text);
    ASSERT_FALSE(size.ok()) << text;
    EXPECT_THAT(size.status().message(), HasSubstr(why)) << text;
    EXPECT_THAT(size.status().message(), HasSubstr("64MiB")) << text;
    EXPECT_THAT(size.status().message(), HasSubstr("\"" + std::string(text) + "\"")) << text;
    EXPECT_EQ(FailureOf(size.status()), Failure::kUsage) << text;
  }
}

TEST(ParseBandwidth, IsInBits) {
  EXPECT_EQ(*ParseBandwidth("100Mbit"), 100000000);
  EXPECT_EQ(*ParseBandwidth("2.5Gbit/s"), 2500000000);
  EXPECT_EQ(*ParseBandwidth("1Gbitps"), 1000000000);
  EXPECT_EQ(*ParseBandwidth("0"), 0);
}

TEST(ParseBandwidth, WantsAUnit) {
  EXPECT_THAT(ParseBandwidth("100").status().message(), HasSubstr("has no unit"));
  EXPECT_THAT(ParseBandwidth("100MB").status().message(), HasSubstr("100Mbit"));
}

TEST(ParseDuration, IsInNanoseconds) {
  EXPECT_EQ(*ParseDuration("5ms"), nanoseconds(5000000));
  EXPECT_EQ(*ParseDuration("0.25us"), nanoseconds(250));
  EXPECT_EQ(*ParseDuration("1.5h"), std::chrono::minutes(90));
  EXPECT_EQ(*ParseDuration("0"), nanoseconds(0));
  EXPECT_THAT(ParseDuration("30").status().message(), HasSubstr("has no unit"));
  EXPECT_THAT(ParseDuration("3000000h").status().message(), HasSubstr("too large"));
}

TEST(ParseFraction, TakesNumbersAndPercentages) {
  EXPECT_EQ(*ParseFraction("0.985"), 0.985);
  EXPECT_EQ(*ParseFraction("98.5%"), 0.985);
  for (const char* text : {"", "%", "1.1", "-0.1", "nan", "101%", "half"}) {
    EXPECT_THAT(ParseFraction(text).status().message(), HasSubstr("not a fraction")) << text;
  }
}

TEST(Format, IsCanonicalAndReadsBack) {
  const std::pair<int64_t, const char*> sizes[] = {{0, "0B"},
                                                   {1, "1B"},
                                                   {1500, "1.5kB"},
                                                   {1080000, "1.08MB"},
                                                   {1048576, "1MiB"},
                                                   {1080001, "1080.001kB"},
                                                   {67108864, "64MiB"},
                                                   {1999, "1.999kB"},
                                                   {100000000, "100MB"},
                                                   {INT64_MAX, "9223372036854775.807kB"}};
  for (const auto& [bytes, text] : sizes) {
    EXPECT_EQ(FormatSize(bytes), text);
    EXPECT_EQ(*ParseSize(text), bytes);
  }
  const std::pair<int64_t, const char*> durations[] = {{0, "0s"},
                                                       {5000000, "5ms"},
                                                       {90000000000, "90s"},
                                                       {1500000, "1.5ms"},
                                                       {900000000000, "15min"},
                                                       {7200000000000, "2h"},
                                                       {60000000001, "60000000.001us"}};
  for (const auto& [time, text] : durations) {
    EXPECT_EQ(FormatDuration(nanoseconds(time)), text);
    EXPECT_EQ(*ParseDuration(text), nanoseconds(time));
  }
  EXPECT_EQ(FormatBandwidth(100000000), "100Mbit");
}

TEST(Human, HasThreeDigits) {
  EXPECT_EQ(HumanSize(0), "0 B");
  EXPECT_EQ(HumanSize(1048576), "1.05 MB");
  EXPECT_EQ(HumanSize(999999), "1.00 MB");
  EXPECT_EQ(HumanSize(123456789), "123 MB");
  EXPECT_EQ(HumanDuration(0.0123), "12.3 ms");
  EXPECT_EQ(HumanDuration(59.2), "59.2 s");
  EXPECT_EQ(HumanDuration(61), "1 min 01 s");
  EXPECT_EQ(HumanDuration(3900), "1 h 05 min");
}

TEST(Units, DurationsAsSeconds) {
  EXPECT_EQ(Seconds(std::chrono::milliseconds(1500)), 1.5);
  EXPECT_EQ(Seconds(std::chrono::hours::max()), 3600.0 * std::chrono::hours::max().count());
  EXPECT_EQ(SecondsOfNanoseconds(250'000'000), 0.25);
  EXPECT_EQ(SecondsOfNanoseconds(0.5e9), 0.5);
  EXPECT_EQ(HumanSeconds(std::chrono::milliseconds(440)), "0.4 s");
  EXPECT_EQ(HumanSeconds(std::chrono::minutes(5)), "300.0 s");
}

TEST(Units, ThreeDigitsAreEnoughForAMeasurement) {
  EXPECT_EQ(ThreeDigits(0), 0);
  EXPECT_EQ(ThreeDigits(999), 999);
  EXPECT_EQ(ThreeDigits(12'345), 12'300);
  EXPECT_EQ(ThreeDigits(12'350), 12'400);
  EXPECT_EQ(ThreeDigits(87'432'187'654), 87'400'000'000);
}

}  // namespace
}  // namespace grapevine
