// The CPU's layers against the references in fp32.
#include "kernels/tensor/cpu_tensor_device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "kernels/tensor/reference/operation.h"
#include "kernels/tensor/tensor_thread.h"
#include "tests/kernels/tensor/operation_cases.h"

namespace grapevine {
namespace {

// Of the largest value of the tensor: sums of up to a few thousand products in
// fp32, in another order than the reference's.
constexpr float kTolerance = 2e-5f;

// Converts between plain nchw and a layout, zeros in the padding.
class Packing {
 public:
  explicit Packing(const TensorFormat& format) : format_(format) {}

  std::vector<float> Pack(const std::vector<float>& nchw) const {
    std::vector<float> packed(format_.size());
    ForEachElement(format_.shape, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
      packed[Position(n, c, h, w)] = nchw[Index(format_.shape, n, c, h, w)];
    });
    return packed;
  }
  std::vector<float> Unpack(const std::vector<float>& packed) const {
    std::vector<float> nchw;
    ForEachElement(format_.shape, [&](int64_t n, int64_t c, int64_t h, int64_t w) {
      nchw.push_back(packed[Position(n, c, h, w)]);
    });
    return nchw;
  }

 private:
  int64_t Position(int64_t n, int64_t c, int64_t h, int64_t w) const {
    const TensorShape& s = format_.shape;
    if (format_.layout == Layout::kNhwc) return ((n * s.h + h) * s.w + w) * s.c + c;
    const int64_t block = BlockChannels(format_.layout);
    const int64_t blocks = (s.c + block - 1) / block;
    return (((n * blocks + c / block) * s.h + h) * s.w + w) * block + c % block;
  }

  const TensorFormat format_;
};

struct LayerCase {
  OperationCase operation;
  Layout layout;
  int consumers = 1;

  friend std::ostream& operator<<(std::ostream& out, const LayerCase& c) {
    return out << c.operation << " " << ToString({c.operation.inputs[0], c.layout}) << ", "
               << c.consumers << " consumers";
  }
};

// A layer with memory of its own.
class LayerUnderTest {
 public:
  LayerUnderTest(const LayerCase& c, Mode mode) : consumers_(c.consumers) {
    LayerRequest request{.operation = c.operation.operation, .mode = mode};
    for (const TensorShape& shape : c.operation.inputs) {
      request.inputs.push_back({shape, c.layout});
      request.wants_gradient.push_back(true);
    }
    formats_ = request.inputs;
    auto layer = CpuTensorDevice().MakeLayer(request);
    EXPECT_TRUE(layer.ok()) << layer.status();
    layer_ = *std::move(layer);
  }

  // The output, plain nchw.
  std::vector<float> Forward(const ReferenceCall<float>& call) {
    inputs_.clear();
    for (size_t k = 0; k < formats_.size(); ++k) {
      inputs_.push_back(Packing(formats_[k]).Pack(call.inputs[k]));
    }
    output_.assign(layer_->output().size(), 0.0f);
    kept_.resize(layer_->kept_bytes() + 64);
    scratch_.resize(layer_->scratch_bytes() + 64);
    replica_ = call.replica;
    gradient_.assign(replica_.size(), std::nanf(""));
    Bind();
    layer_->Forward(replica_.data(), gradient_.data());
    return Packing(layer_->output()).Unpack(output_);
  }

  // Splits dy over the consumers, as fractions that sum to it exactly.
  ReferenceGradient<float> Backward(const ReferenceCall<float>& call,
                                    const std::vector<float>& dy) {
    const std::vector<float> packed = Packing(layer_->output()).Pack(dy);
    for (int k = 0; k < consumers_; ++k) {
      for (size_t i = 0; i < packed.size(); ++i) {
        output_gradients_[k][i] = packed[i] * (consumers_ == 1   ? 1.0f
                                               : k == 0          ? 0.25f
                                               : consumers_ == 2 ? 0.75f
                                                                 : 0.375f);
      }
    }
    layer_->Backward(replica_.data(), gradient_.data());
    ReferenceGradient<float> result(call);
    for (size_t k = 0; k < formats_.size(); ++k) {
      const std::vector<float>& memory =
          layer_->shares_gradient(static_cast<int>(k)) ? output_gradients_[0] : input_gradients_[k];
      result.inputs[k] = Packing(formats_[k]).Unpack(memory);
    }
    result.replica = gradient_;
    return result;
  }

 private:
  void Bind() {
    LayerTensors tensors;
    output_gradients_.assign(consumers_, std::vector<float>(output_.size()));
    input_gradients_.clear();
    for (const std::vector<float>& input : inputs_) {
      tensors.inputs.push_back(input.data());
      input_gradients_.emplace_back(input.size());
    }
    tensors.output = output_.data();
    for (std::vector<float>& g : output_gradients_) tensors.output_gradients.push_back(g.data());
    for (size_t k = 0; k < inputs_.size(); ++k) {
      const bool shared = layer_->shares_gradient(static_cast<int>(k));
      tensors.input_gradients.push_back(shared ? output_gradients_[0].data()
                                               : input_gradients_[k].data());
    }
    tensors.kept = kept_.data();
    tensors.scratch = scratch_.data();
    layer_->Bind(tensors);
  }

  const int consumers_;
  std::vector<TensorFormat> formats_;
  std::unique_ptr<Layer> layer_;
  std::vector<std::vector<float>> inputs_;
  std::vector<float> output_;
  std::vector<std::vector<float>> output_gradients_;
  std::vector<std::vector<float>> input_gradients_;
  std::vector<char> kept_;
  std::vector<char> scratch_;
  std::vector<float> replica_;
  std::vector<float> gradient_;
};

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected,
                const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  float largest = 1;
  for (float value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], kTolerance * largest) << what << " element " << i;
  }
}

class CpuLayersTest : public testing::TestWithParam<LayerCase> {
 protected:
  const TensorThread thread_;
};

TEST_P(CpuLayersTest, AgreesWithTheReference) {
  const OperationCase& c = GetParam().operation;
  const ReferenceCall<float> call = MakeCall<float>(c);
  LayerUnderTest layer(GetParam(), Mode::kTraining);
  ExpectNear(layer.Forward(call), RunReference(c.operation, call), "output");

  const auto dy = RandomValues<float>(ReferenceShapeOf(c.operation, c.inputs).size(), 9);
  const ReferenceGradient<float> expected = RunReferenceBackward(c.operation, call, dy);
  const ReferenceGradient<float> actual = layer.Backward(call, dy);
  for (size_t k = 0; k < expected.inputs.size(); ++k) {
    ExpectNear(actual.inputs[k], expected.inputs[k], "gradient of input " + std::to_string(k));
  }
  ExpectNear(actual.replica, expected.replica, "gradient of the replica");
}

TEST_P(CpuLayersTest, AgreesInInference) {
  const OperationCase& c = GetParam().operation;
  ReferenceCall<float> call = MakeCall<float>(c);
  for (float& value : call.replica) value = std::abs(value) + 0.1f;  // variances are positive
  call.mode = Mode::kInference;
  LayerUnderTest layer(GetParam(), Mode::kInference);
  ExpectNear(layer.Forward(call), RunReference(c.operation, call), "output");
}

TEST_P(CpuLayersTest, RepeatsItselfBitByBit) {
  const OperationCase& c = GetParam().operation;
  const ReferenceCall<float> call = MakeCall<float>(c);
  const auto dy = RandomValues<float>(ReferenceShapeOf(c.operation, c.inputs).size(), 9);
  LayerUnderTest first(GetParam(), Mode::kTraining);
  LayerUnderTest second(GetParam(), Mode::kTraining);
  EXPECT_EQ(first.Forward(call), second.Forward(call));
  EXPECT_EQ(first.Backward(call, dy).replica, second.Backward(call, dy).replica);
}

std::vector<LayerCase> Cases() {
  std::vector<LayerCase> cases;
  std::vector<OperationCase> operations = SmallCases();
  const std::vector<OperationCase> large = LargeCases();
  operations.insert(operations.end(), large.begin(), large.end());
  for (const OperationCase& operation : operations) {
    for (Layout layout : {Layout::kNchw, Layout::kNhwc, Layout::kNchw8c, Layout::kNchw16c}) {
      cases.push_back({operation, layout, 1});
    }
    cases.push_back({operation, Layout::kNchw16c, 2});
    cases.push_back({operation, Layout::kNhwc, 3});
  }
  return cases;
}

std::string CaseName(const testing::TestParamInfo<LayerCase>& info) {
  static constexpr const char* kNames[] = {"Nchw", "Nhwc", "Nchw8c", "Nchw16c"};
  return info.param.operation.name + kNames[static_cast<int>(info.param.layout)] +
         std::to_string(info.param.consumers);
}

INSTANTIATE_TEST_SUITE_P(Operations, CpuLayersTest, testing::ValuesIn(Cases()), CaseName);

}  // namespace
}  // namespace grapevine
