// A CPU that records steps, as a GPU does: a recording holds the calls' arguments, and nothing
// that the network or its layers work out anew in each step.
#ifndef GRAPEVINE_TESTS_TESTING_RECORDING_TENSOR_DEVICE_H_
#define GRAPEVINE_TESTS_TESTING_RECORDING_TENSOR_DEVICE_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/tensor/cpu/cpu_tensor_device.h"

namespace grapevine {

class RecordingTensorDevice : public CpuTensorDevice {
 public:
  // Counts that outlive the device.
  struct Counts {
    int recorded = 0;
    int queued_again = 0;
    int layers = 0;
  };

  explicit RecordingTensorDevice(Counts* counts) : counts_(counts) {}

  absl::StatusOr<std::unique_ptr<Layer>> MakeLayer(const LayerRequest& request) override {
    absl::StatusOr<std::unique_ptr<Layer>> layer = CpuTensorDevice::MakeLayer(request);
    if (!layer.ok()) return layer;
    ++counts_->layers;
    return std::make_unique<RecordedLayer>(this, *std::move(layer));
  }
  void ComputeLoss(const LossCall& call) override {
    Do([this, call] { CpuTensorDevice::ComputeLoss(call); });
  }

  absl::StatusOr<std::unique_ptr<StepRecording>> Record(
      const std::function<void()>& calls) override {
    ++counts_->recorded;
    Calls recorded;
    recording_ = &recorded;
    calls();
    recording_ = nullptr;
    return std::make_unique<Recording>(counts_, std::move(recorded));
  }

 private:
  using Calls = std::vector<std::function<void()>>;

  class Recording final : public StepRecording {
   public:
    Recording(Counts* counts, Calls calls) : counts_(counts), calls_(std::move(calls)) {}
    void Queue() override {
      ++counts_->queued_again;
      for (const auto& call : calls_) call();
    }

   private:
    Counts* const counts_;
    const Calls calls_;
  };

  class RecordedLayer final : public Layer {
   public:
    RecordedLayer(RecordingTensorDevice* device, std::unique_ptr<Layer> layer)
        : device_(*device), layer_(std::move(layer)) {}

    const TensorFormat& output() const override { return layer_->output(); }
    int64_t kept_bytes() const override { return layer_->kept_bytes(); }
    int64_t scratch_bytes() const override { return layer_->scratch_bytes(); }
    bool backward_reads_inputs() const override { return layer_->backward_reads_inputs(); }
    bool backward_reads_output() const override { return layer_->backward_reads_output(); }
    bool shares_gradient(int input) const override { return layer_->shares_gradient(input); }
    void Bind(const LayerTensors& tensors) override { layer_->Bind(tensors); }
    void Forward(const float* replica, float* gradient) override {
      device_.Do([this, replica, gradient] { layer_->Forward(replica, gradient); });
    }
    void Backward(const float* replica, float* gradient) override {
      device_.Do([this, replica, gradient] { layer_->Backward(replica, gradient); });
    }

   private:
    RecordingTensorDevice& device_;
    const std::unique_ptr<Layer> layer_;
  };

  void Do(std::function<void()> call) {
    recording_ != nullptr ? recording_->push_back(std::move(call)) : call();
  }

  Counts* const counts_;
  Calls* recording_ = nullptr;  // null: calls are carried out at once
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_TESTING_RECORDING_TENSOR_DEVICE_H_
