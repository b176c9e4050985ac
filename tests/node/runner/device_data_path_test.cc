// The streams of a data path on a device that does everything as late as it may.
#include "node/runner/device_data_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/vector/vector_passes.h"
#include "random/keyed_random.h"
#include "system/mutex.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr int64_t kSize = 100;
constexpr Tag kTag{.channel = 1, .index = 2, .step = 3};

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
    Scale(factor, Part{in, 0, kSize}, Part{out, 0, kSize});
  }
  void Scale(double factor, const Part& in, const Part& out) {
    path_->Pass({&in, 1}, {&out, 1}, 8, [&] {
      const Term term{factor, in};
      path_->vectors().Combine(out, {&term, 1});
    });
  }
  // A gradient that is ten times its replica, as it was when it was said to be there.
  std::vector<float> TenTimes(Vec replica, Vec into) {
    const SharedVector at = path_->vectors().At(replica);
    path_->BeforeGradient(at, into);
    const SharedVector gradient = path_->vectors().At(into);
    const WeightedVector term{10, at.data.get()};
    gradients_->WeightedSum({&term, 1}, kSize, gradient.data.get());
    std::vector<float> seen;
    path_->OnceComputed([&] {
      MutexLock lock(mutex_);
      seen.assign(gradient.data.get(), gradient.data.get() + kSize);
      changed_.NotifyAll();
    });
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + Patient(std::chrono::seconds(20));
    while (seen.empty() && changed_.WaitUntil(mutex_, deadline)) {
    }
    EXPECT_FALSE(seen.empty());
    return seen;
  }
  // A message of one value lands in a buffer that was posted for it.
  void Land(const Incoming& buffer, float value) {
    auto* const elements = reinterpret_cast<float*>(buffer.into.begin);
    std::fill_n(elements, buffer.into.size / int64_t{sizeof(float)}, value);
    const int64_t first = buffer.into.size / 3;
    buffer.landed(0, first);
    buffer.landed(first, buffer.into.size - first);
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
    const auto deadline = std::chrono::steady_clock::now() + Patient(std::chrono::seconds(20));
    while (message.ready() < message.bytes.size && changed_.WaitUntil(mutex_, deadline)) {
    }
    const auto* const elements = reinterpret_cast<const float*>(message.bytes.begin);
    return {elements, elements + message.bytes.size / int64_t{sizeof(float)}};
  }
  absl::Status AwaitFailure() {
    MutexLock lock(mutex_);
    const auto deadline = std::chrono::steady_clock::now() + Patient(std::chrono::seconds(20));
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

TEST_P(DeviceDataPathTest, AMessageThatArrivesWaitsForWhoeverReadsItsBuffer) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector");
  Scale(2, a, b);
  const absl::StatusOr<Incoming> buffer = path_->Post(7, kTag, Part{a, 0, kSize});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  Land(*buffer, 11);
  path_->Received(7, kTag);
  EXPECT_THAT(Read(b), Each(6));
  EXPECT_THAT(Read(a), Each(11));
}

TEST_P(DeviceDataPathTest, AMessageIsCopiedOnceForAllItsReceivers) {
  const Vec a = NewVector(3);
  const Outgoing first = *path_->Send(Part{a, 10, 50});
  const Outgoing second = *path_->Send(Part{a, 10, 50});
  EXPECT_EQ(first.bytes.begin, second.bytes.begin);
  EXPECT_THAT(Sent(second), Each(3));
  EXPECT_EQ(device_->downloaded(), 50 * 4);
}

TEST_P(DeviceDataPathTest, WhatIsWrittenAgainIsCopiedAgain) {
  const Vec a = NewVector(3);
  EXPECT_THAT(Sent(*path_->Send(Part{a, 0, kSize})), Each(3));
  Scale(2, a, a);
  EXPECT_THAT(Sent(*path_->Send(Part{a, 0, kSize})), Each(6));
  ASSERT_TRUE(Write(a, 9).ok());
  EXPECT_THAT(Sent(*path_->Send(Part{a, 0, kSize})), Each(9));
}

// The streams of the device in the order in which they are made.
enum Stream { kGradients, kMix, kDown, kUp };

TEST_P(DeviceDataPathTest, CopiesUpAndDownOfPartsThatAreApartDoNotTakeTurns) {
  const Vec a = NewVector(3);
  ASSERT_TRUE(path_->Send(Part{a, 0, 50}).ok());
  const absl::StatusOr<Incoming> buffer = path_->Post(7, kTag, Part{a, 50, 50});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  EXPECT_EQ(device_->waits(kUp, kDown), 0);
  Land(*buffer, 11);
  path_->Received(7, kTag);
  const int waits = device_->waits(kDown, kUp);
  ASSERT_TRUE(path_->Send(Part{a, 10, 40}).ok());
  EXPECT_EQ(device_->waits(kDown, kUp), waits);
  ASSERT_TRUE(path_->Post(8, kTag, Part{a, 49, 2}).ok());
  EXPECT_EQ(device_->waits(kUp, kDown), 1);
}

TEST_P(DeviceDataPathTest, APassOverAPartWaitsForThatPartAlone) {
  const Vec a = NewVector(3), b = NewVector(4);
  Scale(1, a, b);
  const absl::StatusOr<Incoming> buffer = path_->Post(7, kTag, Part{a, 50, 50});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  Land(*buffer, 11);
  path_->Received(7, kTag);
  ASSERT_TRUE(path_->Send(Part{b, 50, 50}).ok());
  const int for_up = device_->waits(kMix, kUp), for_down = device_->waits(kMix, kDown);
  Scale(2, {a, 0, 50}, {b, 0, 50});
  EXPECT_EQ(device_->waits(kMix, kUp), for_up);
  EXPECT_EQ(device_->waits(kMix, kDown), for_down);
  Scale(2, {a, 49, 2}, {b, 49, 2});
  EXPECT_EQ(device_->waits(kMix, kUp), for_up + 1);
  EXPECT_EQ(device_->waits(kMix, kDown), for_down + 1);
}

TEST_P(DeviceDataPathTest, MessagesWhoseRangesOverlapTakeTurns) {
  const Vec a = NewVector(3);
  const Outgoing left = *path_->Send(Part{a, 0, 60}), right = *path_->Send(Part{a, 40, 60});
  const absl::StatusOr<Incoming> buffer = path_->Post(7, kTag, Part{a, 30, 40});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  Land(*buffer, 11);
  path_->Received(7, kTag);
  const Outgoing after = *path_->Send(Part{a, 30, 40});
  EXPECT_THAT(Sent(left), Each(3));
  EXPECT_THAT(Sent(right), Each(3));
  EXPECT_THAT(Sent(after), Each(11));
}

TEST_P(DeviceDataPathTest, TheCopyOfAPartIsKeptUntilThatPartIsWritten) {
  const Vec a = NewVector(3);
  const Outgoing first = *path_->Send(Part{a, 10, 40});
  Scale(2, {a, 50, 50}, {a, 50, 50});
  Scale(2, {a, 0, 10}, {a, 0, 10});
  ASSERT_TRUE(path_->Post(7, kTag, Part{a, 60, 40}).ok());
  EXPECT_EQ(path_->Send(Part{a, 10, 40})->bytes.begin, first.bytes.begin);
  Scale(2, {a, 49, 1}, {a, 49, 1});  // while the first message may still be copied
  const Outgoing second = *path_->Send(Part{a, 10, 40});
  EXPECT_THAT(Sent(first), Each(3));
  std::vector<float> expected(40, 3.0f);
  expected.back() = 6;
  EXPECT_EQ(Sent(second), expected);

  const absl::StatusOr<Incoming> buffer = path_->Post(8, kTag, Part{a, 10, 1});
  ASSERT_TRUE(buffer.ok()) << buffer.status();
  Land(*buffer, 11);
  path_->Received(8, kTag);
  expected.front() = 11;
  EXPECT_EQ(Sent(*path_->Send(Part{a, 10, 40})), expected);
}

TEST_P(DeviceDataPathTest, AMessageMayArriveInAVectorThatWasDropped) {
  const Vec a = NewVector(3);
  const void* const memory = path_->vectors().At(a).data.get();
  {
    const absl::StatusOr<Incoming> buffer = path_->Post(7, kTag, Part{a, 20, 30});
    ASSERT_TRUE(buffer.ok()) << buffer.status();
    path_->Drop(a);
    const Vec other = NewVector(5);
    EXPECT_NE(path_->vectors().At(other).data.get(), memory) << "the message goes there";
    Land(*buffer, 11);
    path_->Received(7, kTag);
  }
  const Vec next = path_->vectors().New(kSize, "the next");
  ASSERT_EQ(path_->vectors().At(next).data.get(), memory) << "the pool was to give it again";
  const Vec source = NewVector(7);
  Scale(1, source, next);
  EXPECT_THAT(Read(next), Each(7));
}

TEST_P(DeviceDataPathTest, AGradientWaitsForItsReplicaAndIsReportedOnceItIsThere) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector"), into = NewVector(1);
  Scale(2, a, b);
  EXPECT_THAT(TenTimes(b, into), Each(60));
}

TEST_P(DeviceDataPathTest, AGradientGoesWhereWhatWasSentIsStillCopied) {
  const Vec a = NewVector(3), into = NewVector(1);
  const Outgoing first = *path_->Send(Part{into, 0, kSize});
  EXPECT_THAT(TenTimes(a, into), Each(30));
  EXPECT_THAT(Sent(first), Each(1));
  EXPECT_THAT(Sent(*path_->Send(Part{into, 0, kSize})), Each(30)) << "the copy of before";
}

TEST_P(DeviceDataPathTest, SketchesAreThoseOfHostMemory) {
  const Vec a = NewVector(3), b = path_->vectors().New(kSize, "a vector");
  Scale(2, a, b);
  const absl::StatusOr<Sketch> sketch = path_->SketchOf(b, kSize - 1, /*seed=*/5);
  ASSERT_TRUE(sketch.ok()) << sketch.status();
  const std::vector<float> expected(kSize, 6.0f);
  EXPECT_EQ(*sketch, SketchOf(expected.data(), kSize - 1, 5));
  ASSERT_TRUE(Write(b, 9).ok());
  const std::vector<float> written(kSize, 9.0f);
  EXPECT_EQ(*path_->SketchOf(b, kSize - 1, 5), SketchOf(written.data(), kSize - 1, 5));
}

TEST_P(DeviceDataPathTest, TheCopyOfADroppedVectorIsLetGo) {
  Start({.seed = GetParam(), .pinned = 4 * kSize * 4});
  const Vec b = NewVector(1);
  for (int i = 0; i < 10; ++i) {
    const Vec a = NewVector(3);
    EXPECT_THAT(Sent(*path_->Send(Part{a, 0, kSize})), Each(3));
    path_->Drop(a);
    Scale(1, b, b);  // lets go of what was written
  }
  EXPECT_TRUE(path_->status().ok()) << path_->status();
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
  EXPECT_FALSE(path_->Send(Part{d, 0, kSize}).ok());
  EXPECT_FALSE(path_->Post(1, kTag, Part{d, 0, kSize}).ok());
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
  EXPECT_EQ(path_->Send(Part{sent, 0, kPart}).status().message(),
            "no memory for an outgoing message in host memory");
  const Vec posted = start();
  EXPECT_EQ(path_->Post(7, kTag, Part{posted, 0, kPart}).status().message(),
            "no memory for a message from rank 7 in host memory");
  start();
  EXPECT_EQ(Write(path_->vectors().New(kSize, "the gradient"), 4).message(),
            "no memory for the gradient in host memory");
}

TEST_P(DeviceDataPathTest, ADeviceThatIsLostIsReported) {
  Start({.seed = GetParam(), .work = 20});
  const Vec a = NewVector(3);
  for (int i = 0; i < 10; ++i) Scale(1, a, a);
  ASSERT_TRUE(path_->Send(Part{a, 0, kSize}).ok());
  EXPECT_THAT(std::string(AwaitFailure().message()), HasSubstr("is lost"));
  EXPECT_FALSE(path_->Read(path_->vectors().At(a)).ok());
}

// Random requests, beside host memory of which the same is asked at once.
class RandomRequests : public DeviceDataPathTest {
 protected:
  RandomRequests() : random_(GetParam(), Purpose::kShuffle) {
    for (auto& [vector, values] : vectors_) Renew(&vector, &values);
  }

  void Request() {
    switch (random_.Below(6)) {
      case 0:
      case 1:
        return Mix();
      case 2:
        return SendAPart();
      case 3:
        return PostAPart();
      case 4:
        return LandOne();
      default:
        if (random_.Below(4) > 0) return;
        auto& [vector, values] = vectors_[random_.Below(kVectors)];
        path_->Drop(vector);  // a message may be on its way there
        return Renew(&vector, &values);
    }
  }
  void ExpectTheSame() {
    while (!arriving_.empty()) LandOne();
    for (const auto& [message, values] : sent_) EXPECT_EQ(Sent(message), values);
    sent_.clear();
    for (const auto& [vector, values] : vectors_) EXPECT_EQ(Read(vector), values);
  }

 private:
  static constexpr size_t kVectors = 3;
  struct Shadowed {
    Vec vector;
    std::vector<float> values;
  };
  struct Arriving {
    Part part;
    Tag tag;
    Incoming buffer;
  };
  struct Leaving {
    Outgoing message;
    std::vector<float> values;
  };

  float NextValue() { return static_cast<float>(random_.Below(1 << 20)); }
  void Renew(Vec* vector, std::vector<float>* values) {
    const float value = NextValue();
    *vector = NewVector(value);
    values->assign(kSize, value);
  }
  bool Arrives(const Part& part) const {
    return std::ranges::any_of(arriving_, [&](const Arriving& other) {
      return other.part.vector == part.vector && other.part.offset < part.offset + part.size &&
             part.offset < other.part.offset + other.part.size;
    });
  }
  // A part of `size` in one of the vectors, where no message is to arrive; none if that
  // takes long to find.
  std::optional<Part> Draw(int64_t size) {
    for (int tries = 0; tries < 20; ++tries) {
      const Part part{vectors_[random_.Below(kVectors)].vector,
                      static_cast<int64_t>(random_.Below(kSize + 1 - size)), size};
      if (!Arrives(part)) return part;
    }
    return std::nullopt;
  }
  std::optional<Part> Draw() { return Draw(1 + static_cast<int64_t>(random_.Below(kSize))); }
  float* ValuesOf(const Part& part) {
    const auto shadowed = std::ranges::find(vectors_, part.vector, &Shadowed::vector);
    return shadowed == vectors_.end() ? nullptr : shadowed->values.data() + part.offset;
  }

  void Mix() {
    const std::optional<Part> out = Draw();
    if (!out) return;
    const std::optional<Part> in = Draw(out->size);
    // A term may be what is written, but not lie across it.
    if (!in || (in->vector == out->vector && in->offset != out->offset)) return;
    const Part reads[] = {*in, *out};
    path_->Pass(reads, {&*out, 1}, 8, [&] {
      const Term terms[] = {{0.75, *in}, {0.25, *out}};
      path_->vectors().Combine(*out, terms);
    });
    const WeightedVector terms[] = {{0.75f, ValuesOf(*in)}, {0.25f, ValuesOf(*out)}};
    CpuPasses().WeightedSum(terms, out->size, ValuesOf(*out));
  }
  void SendAPart() {
    const std::optional<Part> part = Draw();
    if (!part) return;
    const float* const values = ValuesOf(*part);
    sent_.push_back({*path_->Send(*part), {values, values + part->size}});
  }
  void PostAPart() {
    const std::optional<Part> part = Draw();
    if (!part) return;
    const Tag tag{.channel = 1, .index = ++posted_, .step = 0};
    arriving_.push_back({*part, tag, *path_->Post(1, tag, *part)});
  }
  void LandOne() {
    if (arriving_.empty()) return;
    const auto which = arriving_.begin() + static_cast<ptrdiff_t>(random_.Below(arriving_.size()));
    const float value = NextValue();
    Land(which->buffer, value);
    path_->Received(1, which->tag);
    if (float* const values = ValuesOf(which->part)) std::fill_n(values, which->part.size, value);
    arriving_.erase(which);
  }

  KeyedRandom random_;
  std::array<Shadowed, kVectors> vectors_;
  std::vector<Arriving> arriving_;
  std::vector<Leaving> sent_;
  Round posted_ = 0;
};

TEST_P(RandomRequests, LeaveWhatTheyLeaveInHostMemory) {
  for (int requests = 0; requests < 20 && !HasFailure(); ++requests) {
    for (int i = 0; i < 40; ++i) Request();
    ExpectTheSame();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests, ::testing::Range<uint64_t>(1, 33));
INSTANTIATE_TEST_SUITE_P(Seeds, DeviceDataPathTest, ::testing::Range<uint64_t>(1, 17));

}  // namespace
}  // namespace grapevine::testing
