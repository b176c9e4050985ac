// The streams of a data path on a device that does everything as late as it may.
#include "node/device_data_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "system/mutex.h"
#include "tests/testing/emulated_device.h"

namespace grapevine::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr int64_t kSize = 100;
constexpr Tag kTag{.channel = 1, .round = 2, .step = 3};

class DeviceDataPathTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  explicit DeviceDataPathTest(EmulatedDeviceOptions options = {}) {
    options.seed = GetParam();
    Start(options);
  }
  ~DeviceDataPathTest() override { path_.reset(); }

  void Start(const EmulatedDeviceOptions& options) {
    path_.reset();
    device_ = std::make_unique<EmulatedDevice>(options);
    gradients_ = *device_->NewStream();
    path_ = *DeviceDataPath::Make(
        {.device = device_.get(), .gradients = gradients_.get(), .chunk = 16},
        [this](auto, auto, int64_t bytes) { passed_bytes_ += bytes; },
        [this](absl::Status why) {
          MutexLock lock(mutex_);
          failure_ = std::move(why);
          changed_.NotifyAll();
        });
  }

  Vec NewVector(float value) {
    const Vec vector = path_->vectors().New(kSize, "the replica");
    EXPECT_TRUE(Write(vector, value).ok());
    return vector;
  }
  absl::Status Write(Vec vector, float value) {
    return path_->Write(vector, [value](float* memory) {
      std::fill_n(memory, kSize, value);
      return absl::OkStatus();
    });
  }
  // out <- factor * in
  void Scale(double factor, Vec in, Vec out) {
    path_->Pass({&in, 1}, {&out, 1}, 8, [&] {
      const Term term{factor, {in, 0, kSize}};
      path_->vectors().Combine({out, 0, kSize}, {&term, 1});
    });
  }
  std::vector<float> Read(Vec vector) {
    const absl::StatusOr<SharedVector> read = path_->Read(path_->vectors().At(vector));
    EXPECT_TRUE(read.ok()) << read.status();
    return {read->span().begin(), read->span().end()};
  }
  // What a receiver of the message would get.
  std::vector<float> Sent(const Outgoing& message) {
    MutexLock lock(mutex_);
    // The watcher's thread raises it.
    message.written->OnRise([this] {
      MutexLock inner(mutex_);
      changed_.NotifyAll();
    });
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (message.ready() < message.slice.size && changed_.WaitUntil(mutex_, deadline)) {
    }
    return {message.slice.begin(), message.slice.begin() + message.slice.size};
  }
  absl::Status AwaitFailure() {
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (failure_.ok() && changed_.WaitUntil(mutex_, deadline)) {
    }
    return failure_;
  }

  std::unique_ptr<EmulatedDevice> device_;
  std::unique_ptr<DeviceStream> gradients_;
  int64_t passed_bytes_ = 0;
  Mutex mutex_;
  Condition changed_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<DeviceDataPath> path_;
};

TEST_P(DeviceDataPathTest, PassesSeeWhatWasWrittenBefore) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector");
  Scale(2, a, b);
  ASSERT_TRUE(Write(a, 5).ok());
  EXPECT_THAT(Read(b), Each(6));
  EXPECT_THAT(Read(a), Each(5));
}

TEST_P(DeviceDataPathTest, AMessageThatArrivesWaitsForWhoeverReadsItsPlace) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector");
  Scale(2, a, b);
  const absl::StatusOr<Incoming> place = path_->Post(7, kTag, {a, 0, kSize});
  ASSERT_TRUE(place.ok()) << place.status();
  std::fill_n(place->into.begin(), kSize, 11.0f);
  place->landed(0, 40);
  place->landed(40, kSize * 4 - 40);
  path_->Received(7, kTag);
  EXPECT_THAT(Read(b), Each(6));
  EXPECT_THAT(Read(a), Each(11));
}

TEST_P(DeviceDataPathTest, AMessageIsCopiedOnceForAllItsReceivers) {
  const Vec a = NewVector(3);
  const Outgoing first = *path_->Send({a, 10, 50});
  const Outgoing second = *path_->Send({a, 10, 50});
  EXPECT_EQ(first.slice.begin(), second.slice.begin());
  EXPECT_THAT(Sent(second), Each(3));
  EXPECT_EQ(device_->downloaded(), 50 * 4);
}

TEST_P(DeviceDataPathTest, WhatIsWrittenAgainIsCopiedAgain) {
  const Vec a = NewVector(3);
  EXPECT_THAT(Sent(*path_->Send({a, 0, kSize})), Each(3));
  Scale(2, a, a);
  EXPECT_THAT(Sent(*path_->Send({a, 0, kSize})), Each(6));
  ASSERT_TRUE(Write(a, 9).ok());
  EXPECT_THAT(Sent(*path_->Send({a, 0, kSize})), Each(9));
}

TEST_P(DeviceDataPathTest, AGradientWaitsForItsReplicaAndIsReportedOnceItIsThere) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector"), into = NewVector(1);
  Scale(2, a, b);
  const SharedVector at = path_->vectors().At(b), gradient = path_->vectors().At(into);
  path_->BeforeGradient(at, gradient);
  const WeightedVector term{10, at.data.get()};
  gradients_->WeightedSum({&term, 1}, kSize, gradient.data.get());
  std::vector<float> seen;
  bool computed = false;
  path_->OnceComputed([&] {
    MutexLock lock(mutex_);
    seen.assign(gradient.data.get(), gradient.data.get() + kSize);
    computed = true;
    changed_.NotifyAll();
  });
  {
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!computed && changed_.WaitUntil(mutex_, deadline)) {
    }
  }
  ASSERT_TRUE(computed);
  EXPECT_THAT(seen, Each(60));
}

TEST_P(DeviceDataPathTest, SketchesAreThoseOfHostMemory) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector");
  Scale(2, a, b);
  const absl::StatusOr<Sketch> sketch = path_->SketchOf(b, kSize - 1, /*seed=*/5);
  ASSERT_TRUE(sketch.ok()) << sketch.status();
  const std::vector<float> expected(kSize, 6.0f);
  EXPECT_EQ(*sketch, SketchOf(expected.data(), kSize - 1, 5));
}

TEST_P(DeviceDataPathTest, DroppedMemoryBecomesAnothersInItsTurn) {
  Vec a = NewVector(3);
  const Vec b = path_->vectors().New(kSize, "a vector");
  const void* const memory = path_->vectors().At(a).data.get();
  Scale(2, a, b);
  path_->Drop(a);
  a = NewVector(7);
  ASSERT_EQ(path_->vectors().At(a).data.get(), memory) << "the pool was to give it again";
  EXPECT_THAT(Read(b), Each(6));
}

TEST_P(DeviceDataPathTest, PassesAreReportedWhenTheyAreOver) {
  const Vec a = NewVector(3);
  for (int i = 0; i < 3; ++i) Scale(1, a, a);
  Read(a);
  Scale(1, a, a);  // looks at those before
  EXPECT_GE(passed_bytes_, 24);
}

TEST_P(DeviceDataPathTest, WithoutMemoryNothingRunsAndTheErrorSaysForWhat) {
  Start({.seed = GetParam(), .memory = 3 * kSize * 4});
  const Vec a = NewVector(3), b = NewVector(4), c = NewVector(5);
  EXPECT_TRUE(path_->status().ok());
  const Vec d = path_->vectors().New(kSize, "the fourth");
  Scale(2, a, d);
  EXPECT_TRUE(absl::IsResourceExhausted(path_->status()));
  EXPECT_EQ(path_->status().message(), "no memory for the fourth (a vector of 100 elements)");
  EXPECT_FALSE(path_->Send({d, 0, kSize}).ok());
  EXPECT_FALSE(path_->Post(1, kTag, {d, 0, kSize}).ok());
  EXPECT_FALSE(path_->Read(path_->vectors().At(d)).ok());
  for (const Vec vector : {a, b, c, d}) path_->Drop(vector);
}

TEST_P(DeviceDataPathTest, WithoutHostMemoryTheErrorNamesTheMessage) {
  constexpr int64_t kPart = 30;
  const auto start = [this] {
    Start({.seed = GetParam(), .pinned = (kSize + kPart - 1) * 4});
    return NewVector(3);  // through host memory, which stays with the path
  };
  const Vec sent = start();
  EXPECT_EQ(path_->Send({sent, 0, kPart}).status().message(),
            "no memory for an outgoing message in host memory");
  const Vec posted = start();
  EXPECT_EQ(path_->Post(7, kTag, {posted, 0, kPart}).status().message(),
            "no memory for a message from rank 7 in host memory");
  start();
  EXPECT_EQ(Write(path_->vectors().New(kSize, "the gradient"), 4).message(),
            "no memory for the gradient in host memory");
}

TEST_P(DeviceDataPathTest, ADeviceThatIsLostIsReported) {
  Start({.seed = GetParam(), .work = 20});
  const Vec a = NewVector(3);
  for (int i = 0; i < 10; ++i) Scale(1, a, a);
  ASSERT_TRUE(path_->Send({a, 0, kSize}).ok());
  EXPECT_THAT(std::string(AwaitFailure().message()), HasSubstr("is lost"));
  EXPECT_FALSE(path_->Read(path_->vectors().At(a)).ok());
}

INSTANTIATE_TEST_SUITE_P(Seeds, DeviceDataPathTest, ::testing::Range<uint64_t>(1, 17));

}  // namespace
}  // namespace grapevine::testing
