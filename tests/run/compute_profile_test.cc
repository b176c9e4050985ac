#include "run/timing/compute_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "run/timing/compute_time.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Written(const std::string& text) {
  const std::string path = ::testing::TempDir() + "/profile.textproto";
  std::ofstream(path) << text;
  return path;
}

ComputeProfile OneDevice(const std::string& name, const std::vector<int64_t>& times,
                         int64_t mix_bytes = 0, int64_t mix_ns = 0) {
  ComputeProfile profile;
  DeviceProfile& device = *profile.add_devices();
  device.set_device(name);
  device.set_gradients(static_cast<int64_t>(times.size()));
  device.mutable_gradient_ns()->Assign(times.begin(), times.end());
  device.set_mix_bytes(mix_bytes);
  device.set_mix_ns(mix_ns);
  return profile;
}

TEST(QuantilesTest, KeepTheEnds) {
  EXPECT_THAT(QuantilesOf({3, 1, 2}, 5), ElementsAre(1, 2, 3));
  EXPECT_THAT(QuantilesOf({9, 8, 7, 6, 5, 4, 3, 2, 1}, 3), ElementsAre(1, 5, 9));
  EXPECT_THAT(QuantilesOf({}, 3), ElementsAre());
}

TEST(ComputeProfileTest, JoinsTheNodesOfADevice) {
  const std::vector<ComputeProfile> parts = {OneDevice("cpu", {10, 30}, 100, 7),
                                             OneDevice("cuda", {1}), OneDevice("cpu", {20}, 50, 3)};
  const ComputeProfile joined = JoinProfiles(parts);
  ASSERT_EQ(joined.devices_size(), 2);
  EXPECT_EQ(joined.devices(0).device(), "cpu");
  EXPECT_EQ(joined.devices(0).gradients(), 3);
  EXPECT_THAT(joined.devices(0).gradient_ns(), ElementsAre(10, 20, 30));
  EXPECT_EQ(MixBandwidth(joined.devices(0)), 15.0);
  EXPECT_EQ(joined.devices(1).device(), "cuda");
  EXPECT_EQ(MixBandwidth(joined.devices(1)), std::nullopt);
}

TEST(ComputeProfileTest, KeepsAThousandQuantilesOfManyTimes) {
  std::vector<int64_t> times(20001);
  for (size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int64_t>(i);
  const ComputeProfile joined = JoinProfiles(std::vector{OneDevice("cpu", times)});
  const auto& kept = joined.devices(0).gradient_ns();
  ASSERT_EQ(kept.size(), 1001);
  EXPECT_EQ(kept[0], 0);
  EXPECT_EQ(kept[500], 10000);
  EXPECT_EQ(kept[1000], 20000);
  EXPECT_EQ(joined.devices(0).gradients(), 20001);
}

TEST(ComputeProfileTest, DrawsWhatWasMeasured) {
  const std::string path = Written(ToText(OneDevice("cpu", {100, 200, 1000})));
  const auto compute = MakeComputeTime("profile:" + path, 3);
  ASSERT_TRUE(compute.ok()) << compute.status();
  int below_median = 0;
  int64_t longest = 0;
  constexpr int kDraws = 10000;
  for (Round round = 0; round < kDraws; ++round) {
    const int64_t time = (*compute)->Gradient(1, round);
    EXPECT_GE(time, 100);
    EXPECT_LE(time, 1000);
    below_median += time < 200;
    longest = std::max(longest, time);
  }
  EXPECT_NEAR(below_median, kDraws / 2, 3 * 50);  // three standard deviations
  EXPECT_GT(longest, 990);
  EXPECT_EQ((*compute)->Gradient(1, 5), (*compute)->Gradient(1, 5));
}

TEST(ComputeProfileTest, ASingleTimeIsAFixedOne) {
  const auto compute =
      MakeComputeTime("profile:" + Written(ToText(OneDevice("cpu", {77}))) + ":device=cpu", 3);
  ASSERT_TRUE(compute.ok()) << compute.status();
  EXPECT_EQ((*compute)->Gradient(0, 0), 77);
  EXPECT_EQ((*compute)->Gradient(9, 1), 77);
}

TEST(ComputeProfileTest, TheNameOfAFileMayHaveColons) {
  const std::string path = ::testing::TempDir() + "/12:30:lr=0.1.textproto";
  std::ofstream(path) << ToText(OneDevice("cpu", {5}));
  for (const char* device : {"", ":device=cpu"}) {
    const auto found = ProfiledDevice("profile:" + path + device);
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ((*found)->gradient_ns(0), 5);
  }
  EXPECT_EQ(*ProfiledDevice("profiles:" + path), std::nullopt);
  EXPECT_EQ(*ProfiledDevice("10ms"), std::nullopt);
}

// A pass costs something besides its bytes.
TEST(ComputeProfileTest, AFewParametersMixSlowly) {
  const auto device = ProfiledDevice(
      "profile:" + Written("devices { device: 'cpu' gradient_ns: 5 mix_bytes: 8 mix_ns: 90000 }"));
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_DOUBLE_EQ(*MixBandwidth(**device), 8.0 / 90000);
}

TEST(ComputeProfileTest, ErrorsSayWhatIsWrong) {
  const auto error = [](const std::string& compute) {
    return std::string(MakeComputeTime(compute, 1).status().message());
  };
  const auto with = [&](const std::string& text) { return error("profile:" + Written(text)); };
  const auto failure = [](const std::string& compute) {
    return FailureOf(MakeComputeTime(compute, 1).status());
  };
  EXPECT_THAT(error("profile:/no/such/file"), HasSubstr("/no/such/file"));
  EXPECT_EQ(failure("profile:/no/such/file"), Failure::kInput);
  EXPECT_THAT(error("profile"), StartsWith("--compute=profile: needs a file"));
  EXPECT_EQ(failure("profile"), Failure::kUsage);
  EXPECT_THAT(with("devices { device: 'cpu' }"), HasSubstr("cpu has no gradient_ns"));
  EXPECT_THAT(with(""), HasSubstr("it has no devices"));
  EXPECT_THAT(with("devices { gradient_ns: 1 }"), HasSubstr("a device has no name"));
  EXPECT_THAT(with("devices { device: 'a' gradient_ns: [2, 1] }"),
              HasSubstr("gradient_ns of a do not ascend"));
  EXPECT_THAT(with("devices { device: 'a' gradient_ns: -1 }"),
              HasSubstr("gradient_ns of a do not ascend"));
  EXPECT_THAT(with("devices { device: 'a' } devices { device: 'a' }"),
              HasSubstr("a is there twice"));
  EXPECT_THAT(with("wrong: 1"), HasSubstr("profile.textproto:1: "));
  EXPECT_THAT(with("devices { device: 'a' gradient_ns: 1 mix_bytes: 1000000000000 mix_ns: 1 }"),
              HasSubstr("mixing of a at 1e+12 bytes a nanosecond is not plausible"));
  EXPECT_THAT(with("devices { device: 'a' gradient_ns: 1 mix_bytes: 9000000000000000000 }"),
              HasSubstr("sums of a are not within 0 and "));
  EXPECT_THAT(with("devices { device: 'a' gradient_ns: 1 gradients: -1 }"),
              HasSubstr("sums of a are not within"));
  const std::string two = "devices { device: 'a' gradient_ns: 1 } devices { device: 'b' }";
  EXPECT_THAT(with(two), HasSubstr("several devices; choose one of a, b by :device=NAME"));
  EXPECT_THAT(error("profile:" + Written(two) + ":device=c"),
              HasSubstr("no such device; choose one of a, b"));
}

}  // namespace
}  // namespace grapevine
