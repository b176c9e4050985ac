// A network on a device for replicas in host memory, on an emulated device.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/data/dataset_batches.h"
#include "model/datasets/dataset_kind.h"
#include "model/network/network.h"
#include "model/networks/network_kind.h"
#include "model/problem/network_problem.h"
#include "tests/testing/emulated_device.h"

namespace grapevine {
namespace {

using testing::EmulatedDevice;

// The CPU's, in its place on a stream: what was queued before is done first.
class OnStream final : public Network {
 public:
  OnStream(std::unique_ptr<Network> network, DeviceStream* stream)
      : network_(std::move(network)), stream_(*stream) {}

  const std::string& name() const override { return network_->name(); }
  const ReplicaLayout& layout() const override { return network_->layout(); }
  ImageShape input() const override { return network_->input(); }
  int64_t classes() const override { return network_->classes(); }
  void Initialize(uint64_t seed, float* replica) const override {
    network_->Initialize(seed, replica);
  }
  absl::StatusOr<double> Gradient(const float* replica, const Batch& batch,
                                  float* gradient) override {
    WaitForStream();
    return network_->Gradient(replica, batch, gradient);
  }
  absl::Status Statistics(const float* replica, const Batch& batch, float* statistics) override {
    WaitForStream();
    return network_->Statistics(replica, batch, statistics);
  }
  absl::StatusOr<EvaluationSums> Evaluate(const float* replica, const Batch& batch) override {
    WaitForStream();
    return network_->Evaluate(replica, batch);
  }

 private:
  void WaitForStream() {
    const absl::Status done = stream_.Record()->Wait(std::chrono::seconds(10));
    EXPECT_TRUE(done.ok()) << done;
  }

  const std::unique_ptr<Network> network_;
  DeviceStream& stream_;
};

class HostNetworkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    stream_ = *device_.NewStream();
    auto made = HostNetwork::Make(std::make_unique<OnStream>(NewNetwork(), stream_.get()),
                                  {.device = &device_, .stream = stream_.get()});
    ASSERT_TRUE(made.ok()) << made.status();
    network_ = *std::move(made);
    replica_.resize(static_cast<size_t>(network_->layout().size));
    network_->Initialize(1, replica_.data());
  }

  std::unique_ptr<Network> NewNetwork() const {
    const DatasetTraits& traits = data_.train->traits();
    return *MakeNetwork("resnet20", traits.shape, traits.classes, {});
  }
  std::unique_ptr<BatchSource> Batches() const {
    return std::make_unique<ShardBatches>(data_.train, std::vector<int32_t>{0, 1, 2, 3},
                                          ShardOptions{.batch_size = 4});
  }
  int64_t replica_bytes() const {
    return static_cast<int64_t>(replica_.size()) * int64_t{sizeof(float)};
  }

  const TrainTest data_ = *MakeDataset("synthetic:train=64:test=250");
  EmulatedDevice device_{{}};
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<HostNetwork> network_;
  std::vector<float> replica_;
};

TEST_F(HostNetworkTest, BringsGradientsToTheHost) {
  Batch batch;
  ASSERT_TRUE(Batches()->Fill(0, &batch).ok());
  std::vector<float> got(replica_.size()), wanted(replica_.size());
  const auto loss = network_->Gradient(replica_.data(), batch, got.data());
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_EQ(*loss, *NewNetwork()->Gradient(replica_.data(), batch, wanted.data()));
  EXPECT_EQ(got, wanted);
}

TEST_F(HostNetworkTest, AnEvaluationUploadsTheReplicaOnce) {
  const auto on_device = EvaluateOn(data_.test, replica_.data(), *network_, {});
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  EXPECT_EQ(device_.uploaded(), replica_bytes());
  const auto plain = NewNetwork();
  const auto on_cpu = EvaluateOn(data_.test, replica_.data(), *plain, {});
  ASSERT_EQ(on_device->samples, 250);
  EXPECT_EQ(on_device->loss_sum, on_cpu->loss_sum);
}

TEST_F(HostNetworkTest, WhatHasChangedIsUploadedAgain) {
  ASSERT_TRUE(EvaluateOn(data_.test, replica_.data(), *network_, {}).ok());
  const auto batches = Batches();
  ASSERT_TRUE(RecalibrateBatchNorm(*network_, *batches, 0, 3, replica_.data()).ok());
  const auto on_device = EvaluateOn(data_.test, replica_.data(), *network_, {});
  ASSERT_TRUE(on_device.ok()) << on_device.status();
  EXPECT_EQ(device_.uploaded(), 3 * replica_bytes());

  std::vector<float> expected(replica_.size());
  const auto plain = NewNetwork();
  plain->Initialize(1, expected.data());
  ASSERT_TRUE(RecalibrateBatchNorm(*plain, *batches, 0, 3, expected.data()).ok());
  EXPECT_EQ(replica_, expected);
  EXPECT_EQ(on_device->loss_sum, EvaluateOn(data_.test, expected.data(), *plain, {})->loss_sum);
}

TEST_F(HostNetworkTest, SaysWhatThereIsNoMemoryFor) {
  EmulatedDevice small({.memory = 1000});
  const auto stream = *small.NewStream();
  const auto made = HostNetwork::Make(NewNetwork(), {.device = &small, .stream = stream.get()});
  EXPECT_TRUE(absl::IsResourceExhausted(made.status())) << made.status();
  EXPECT_NE(made.status().message().find("a model that is evaluated"), std::string::npos)
      << made.status();
}

}  // namespace
}  // namespace grapevine
