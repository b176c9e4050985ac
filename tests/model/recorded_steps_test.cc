#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/status.h"
#include "kernels/tensor/cpu/cpu_tensor_device.h"
#include "model/network/graph_network.h"
#include "model/network/network.h"
#include "model/networks/network_kind.h"
#include "random/keyed_random.h"
#include "tests/testing/recording_tensor_device.h"

namespace grapevine {
namespace {

// Writes down what happens.
class LoggingDevice : public CpuTensorDevice {
 public:
  absl::StatusOr<std::unique_ptr<StepRecording>> Record(
      const std::function<void()>& calls) override {
    RETURN_IF_ERROR(records);
    log += "record[";
    calls();
    log += "] ";
    return std::make_unique<Recording>(this);
  }
  uint64_t step_state() const override { return state; }

  std::string log;
  absl::Status records;
  uint64_t state = 0;

 private:
  class Recording : public StepRecording {
   public:
    explicit Recording(LoggingDevice* device) : device_(*device) {}
    void Queue() override { device_.log += "again "; }

   private:
    LoggingDevice& device_;
  };
};

class RecordedStepsTest : public ::testing::Test {
 protected:
  // What the device saw of so many steps.
  std::string Queue(int steps, int replica = 0, int gradient = 0) {
    device_.log.clear();
    for (int i = 0; i < steps; ++i) {
      steps_.Queue(&vectors_[replica], &vectors_[gradient], [this] { device_.log += "step "; });
    }
    return device_.log;
  }

  LoggingDevice device_;
  RecordedSteps steps_{&device_};
  std::vector<float> vectors_ = std::vector<float>(100);
};

TEST_F(RecordedStepsTest, RecordsTheThirdStep) {
  EXPECT_EQ(Queue(5), "step step record[step ] again again again ");
}

TEST_F(RecordedStepsTest, KeepsARecordingForEachVector) {
  Queue(3, /*replica=*/0);
  EXPECT_EQ(Queue(3, /*replica=*/1), "step step record[step ] again ");
  EXPECT_EQ(Queue(1, /*replica=*/0), "again ");
  EXPECT_EQ(Queue(3, /*replica=*/0, /*gradient=*/1), "step step record[step ] again ");
}

TEST_F(RecordedStepsTest, RecordsAnewWhenTheDeviceHasChanged) {
  Queue(3);
  device_.state = 1;
  EXPECT_EQ(Queue(3), "step step record[step ] again ");
  device_.state = 0;
  EXPECT_EQ(Queue(1), "again ");
}

TEST_F(RecordedStepsTest, ForgetsWhatWasQueuedLongAgo) {
  Queue(3, 0);
  for (size_t i = 1; i < RecordedSteps::kMaxSteps; ++i) Queue(1, static_cast<int>(i));
  EXPECT_EQ(Queue(1, 0), "again ");
  for (size_t i = 1; i <= RecordedSteps::kMaxSteps; ++i) Queue(1, static_cast<int>(50 + i));
  EXPECT_EQ(Queue(1, 0), "step ");
}

TEST_F(RecordedStepsTest, GoesOnWithoutRecordings) {
  for (const absl::Status& why :
       {absl::UnimplementedError("at once"), absl::InternalError("cannot be recorded")}) {
    device_.records = why;
    steps_ = RecordedSteps(&device_);
    EXPECT_EQ(Queue(4), "step step step step ") << why;
    device_.records = absl::OkStatus();
    EXPECT_EQ(Queue(4), "step step step step ") << "does not try again";
  }
}

// A network's own use of it: the same bits, whatever the batch and whichever the vector.
TEST(RecordedNetworkTest, ComputesTheSameGradients) {
  constexpr int64_t kClasses = 10, kSteps = 12;
  const ImageShape image{32, 32, 3};
  RecordingTensorDevice::Counts counts;
  const auto recording = MakeNetwork("resnet20", image, kClasses, {},
                                     std::make_unique<RecordingTensorDevice>(&counts));
  const auto plain = MakeNetwork("resnet20", image, kClasses, {});
  ASSERT_TRUE(recording.ok() && plain.ok());
  const auto size = static_cast<size_t>((*plain)->layout().size);
  std::vector<std::vector<float>> replicas(2, std::vector<float>(size));
  for (size_t i = 0; i < replicas.size(); ++i) (*plain)->Initialize(i, replicas[i].data());
  KeyedRandom random(5, Purpose::kSyntheticData);
  std::vector<float> got(size), wanted(size);
  for (int64_t step = 0; step < kSteps; ++step) {
    // Another size in between makes another plan.
    const int64_t batch_size = step == 8 ? 2 : 4;
    Batch batch{.size = batch_size};
    for (int64_t i = 0; i < batch_size * image.size(); ++i) {
      batch.images.push_back(static_cast<float>(random.Normal()));
    }
    for (int64_t i = 0; i < batch_size; ++i) {
      batch.labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
    }
    const float* const replica = replicas[static_cast<size_t>(step) % 2].data();
    got.assign(size, std::numeric_limits<float>::quiet_NaN());
    const auto loss = (*recording)->Gradient(replica, batch, got.data());
    ASSERT_TRUE(loss.ok()) << loss.status();
    EXPECT_EQ(*loss, *(*plain)->Gradient(replica, batch, wanted.data())) << "step " << step;
    ASSERT_EQ(got, wanted) << "step " << step;
  }
  // Steps 4 to 7, of two vectors; after step 8 each is new again.
  EXPECT_EQ(counts.recorded, 2);
  EXPECT_EQ(counts.queued_again, 4);
}

TEST(RecordedNetworkTest, APreparedNetworkMakesNoLayersInItsFirstGradient) {
  RecordingTensorDevice::Counts counts;
  const auto network =
      MakeNetwork("mlp", {28, 28, 1}, 10, {}, std::make_unique<RecordingTensorDevice>(&counts));
  ASSERT_TRUE(network.ok()) << network.status();
  Batch batch{.size = 4};
  batch.images.assign(4 * 784, 0.5f);
  batch.labels = {0, 1, 2, 3};
  ASSERT_EQ((*network)->PrepareGradient(batch.size), absl::OkStatus());
  const int prepared = counts.layers;
  EXPECT_GT(prepared, 0);
  std::vector<float> replica((*network)->layout().size), gradient(replica.size());
  (*network)->Initialize(1, replica.data());
  ASSERT_TRUE((*network)->Gradient(replica.data(), batch, gradient.data()).ok());
  EXPECT_EQ(counts.layers, prepared);
}

TEST(RecordedNetworkTest, GradientsInPartsAreNotRecorded) {
  RecordingTensorDevice::Counts counts;
  const auto network =
      MakeNetwork("mlp", {28, 28, 1}, 10, {}, std::make_unique<RecordingTensorDevice>(&counts));
  ASSERT_TRUE(network.ok());
  std::vector<float> replica(static_cast<size_t>((*network)->layout().size)), gradient = replica;
  Batch batch{.size = 1, .images = BatchVector(28 * 28), .labels = {3}};
  for (int step = 0; step < 5; ++step) {
    int parts = 0;
    const auto loss = (*network)->GradientInParts(replica.data(), batch, gradient.data(),
                                                  [&](int64_t) { ++parts; });
    ASSERT_TRUE(loss.ok()) << loss.status();
    EXPECT_GT(parts, 0);
  }
  EXPECT_EQ(counts.recorded, 0);
}

}  // namespace
}  // namespace grapevine
