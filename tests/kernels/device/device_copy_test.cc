#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <numeric>
#include <vector>

#include "kernels/device/device.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using testing::EmulatedDevice;

constexpr int64_t kElements = 1000;
constexpr int64_t kBytes = kElements * int64_t{sizeof(float)};

std::vector<float> Ascending() {
  std::vector<float> values(kElements);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

TEST(DeviceCopyTest, AReaderThatWaitsOnItsStreamSeesAllOfIt) {
  const std::vector<float> host = Ascending();
  for (const uint64_t seed : testing::Seeds(16)) {
    EmulatedDevice device({.seed = seed});
    const auto uploads = *device.NewStream(), reader = *device.NewStream();
    const auto copy = DeviceCopy::Make(device, *uploads, host.data(), kBytes, "numbers");
    ASSERT_TRUE(copy.ok()) << copy.status();
    std::vector<float> read(kElements);
    reader->WaitFor((*copy)->arrived());
    reader->Download((*copy)->get(), kBytes, read.data());
    ASSERT_TRUE(reader->Record()->Wait(std::chrono::seconds(10)).ok());
    EXPECT_EQ(read, host) << "seed " << seed;
  }
}

TEST(DeviceCopyTest, WhoLetsGoOfItWaitsForItsEnd) {
  const std::vector<float> host = Ascending();
  EmulatedDevice device({});
  const auto uploads = *device.NewStream();
  auto copy = DeviceCopy::Make(device, *uploads, host.data(), kBytes, "numbers");
  ASSERT_TRUE(copy.ok()) << copy.status();
  EXPECT_EQ(device.uploaded(), 0);
  *copy = nullptr;
  EXPECT_EQ(device.uploaded(), kBytes) << "nothing writes into memory that went back";
}

TEST(DeviceCopyTest, SaysWhatThereIsNoMemoryFor) {
  const std::vector<float> host = Ascending();
  EmulatedDevice device({.memory = 100});
  const auto uploads = *device.NewStream();
  const auto copy = DeviceCopy::Make(device, *uploads, host.data(), kBytes, "numbers");
  EXPECT_TRUE(absl::IsResourceExhausted(copy.status())) << copy.status();
  EXPECT_NE(copy.status().message().find("numbers"), std::string::npos) << copy.status();
}

}  // namespace
}  // namespace grapevine
