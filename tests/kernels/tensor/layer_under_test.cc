#include "tests/kernels/tensor/layer_under_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace grapevine {
namespace {

// IEEE 754's binary16, to the nearest and of equally near ones to the even one, in whole
// steps of the numbers around it.
uint16_t HalfOf(float value) {
  const double size = std::abs(double{value});
  const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (std::isnan(value)) return 0x7e00;
  if (size == 0) return sign;
  if (size >= 65520) return sign | 0x7c00;
  int exponent = 0;
  std::frexp(size, &exponent);
  exponent = std::max(exponent - 1, -14);
  const double steps = std::nearbyint(std::ldexp(size, 10 - exponent));
  return static_cast<uint16_t>(sign + static_cast<int>(steps) + ((exponent + 14) << 10));
}

float FloatOf(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const int fraction = half & 1023;
  const float size = exponent == 31 ? (fraction == 0 ? INFINITY : NAN)
                     : exponent == 0
                         ? std::ldexp(static_cast<float>(fraction), -24)
                         : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
  return (half & 0x8000) != 0 ? -size : size;
}

// Numbers as a tensor's elements, and back.
std::vector<char> Encode(const std::vector<float>& values, ElementType type) {
  std::vector<char> bytes(values.size() * BytesOf(type));
  if (type == ElementType::kFloat32) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    char* const to = bytes.data() + i * BytesOf(type);
    if (type == ElementType::kFloat16) {
      const uint16_t half = HalfOf(values[i]);
      std::memcpy(to, &half, sizeof(half));
    } else {
      // To the nearest, of equally near ones to the even one. No NaNs here.
      uint32_t bits = 0;
      std::memcpy(&bits, &values[i], sizeof(bits));
      bits += 0x7fff + ((bits >> 16) & 1);
      const auto upper = static_cast<uint16_t>(bits >> 16);
      std::memcpy(to, &upper, sizeof(upper));
    }
  }
  return bytes;
}
std::vector<float> Decode(const std::vector<char>& bytes, ElementType type) {
  std::vector<float> values(bytes.size() / BytesOf(type));
  if (type == ElementType::kFloat32) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const char* const from = bytes.data() + i * BytesOf(type);
    if (type == ElementType::kFloat16) {
      uint16_t half = 0;
      std::memcpy(&half, from, sizeof(half));
      values[i] = FloatOf(half);
    } else {
      uint16_t upper = 0;
      std::memcpy(&upper, from, sizeof(upper));
      const uint32_t bits = uint32_t{upper} << 16;
      std::memcpy(&values[i], &bits, sizeof(bits));
    }
  }
  return values;
}
std::vector<float> Rounded(const std::vector<float>& values, ElementType type) {
  if (values.empty()) return values;  // a replica of none
  return Decode(Encode(values, type), type);
}
// As the operation reads them on the device.
std::vector<float> Rounded(const std::vector<float>& values, const Operation& operation,
                           const DeviceUnderTest& device) {
  std::vector<float> rounded = Rounded(values, device.type());
  const bool is_product = std::holds_alternative<Convolution>(operation) ||
                          std::holds_alternative<InnerProduct>(operation);
  if (!device.tf32() || !is_product) return rounded;
  for (float& value : rounded) {
    value = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0xffffe000);
  }
  return rounded;
}

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

// A piece of a device's memory that holds numbers of one type.
class Numbers {
 public:
  Numbers(DeviceUnderTest& device, ElementType type, int64_t size)
      : device_(device), type_(type), bytes_(size * BytesOf(type)) {
    auto memory = device.device().NewArena((bytes_ + 255) / 256 * 256 + 256, "a tensor");
    EXPECT_TRUE(memory.ok()) << memory.status();
    memory_ = *std::move(memory);
  }

  void* get() const { return memory_.get(); }
  void Write(const std::vector<float>& values) {
    if (values.empty()) return;
    const std::vector<char> encoded = Encode(values, type_);
    device_.Write(encoded.data(), bytes_, get());
  }
  std::vector<float> Read() const {
    if (bytes_ == 0) return {};
    std::vector<char> encoded(bytes_);
    device_.Read(get(), bytes_, encoded.data());
    return Decode(encoded, type_);
  }

 private:
  DeviceUnderTest& device_;
  const ElementType type_;
  const int64_t bytes_;
  std::shared_ptr<void> memory_;
};

// A layer with memory of its own.
class LayerUnderTest {
 public:
  LayerUnderTest(const LayerCase& c, Mode mode, DeviceUnderTest& device)
      : device_(device), consumers_(c.consumers) {
    LayerRequest request{
        .operation = c.operation.operation, .mode = mode, .backward = mode == Mode::kTraining};
    for (const TensorShape& shape : c.operation.inputs) {
      request.inputs.push_back({shape, c.layout, device.type()});
      request.wants_gradient.push_back(true);
    }
    formats_ = request.inputs;
    auto layer = device.device().MakeLayer(request);
    EXPECT_TRUE(layer.ok()) << layer.status();
    layer_ = *std::move(layer);
  }

  // The output, plain nchw.
  std::vector<float> Forward(const ReferenceCall<float>& call) {
    Bind();
    for (size_t k = 0; k < formats_.size(); ++k) {
      inputs_[k].Write(Packing(formats_[k]).Pack(call.inputs[k]));
    }
    replica_ = std::make_unique<Numbers>(New(call.replica));
    gradient_ =
        std::make_unique<Numbers>(New(std::vector<float>(call.replica.size(), std::nanf(""))));
    layer_->Forward(Floats(*replica_), Floats(*gradient_));
    Finish();
    return Packing(layer_->output()).Unpack(output_->Read());
  }

  // Splits dy over the consumers, as fractions that sum to it exactly.
  ReferenceGradient<float> Backward(const ReferenceCall<float>& call,
                                    const std::vector<float>& dy) {
    const std::vector<float> packed = Packing(layer_->output()).Pack(dy);
    for (int k = 0; k < consumers_; ++k) {
      std::vector<float> part = packed;
      const float share = consumers_ == 1   ? 1.0f
                          : k == 0          ? 0.25f
                          : consumers_ == 2 ? 0.75f
                                            : 0.375f;
      for (float& value : part) value *= share;
      output_gradients_[k].Write(part);
    }
    layer_->Backward(Floats(*replica_), Floats(*gradient_));
    Finish();
    ReferenceGradient<float> result(call);
    for (size_t k = 0; k < formats_.size(); ++k) {
      const Numbers& numbers = SharesGradient(k) ? output_gradients_[0] : input_gradients_[k];
      result.inputs[k] = Packing(formats_[k]).Unpack(numbers.Read());
    }
    result.replica = gradient_->Read();
    return result;
  }

 private:
  static float* Floats(const Numbers& numbers) { return static_cast<float*>(numbers.get()); }
  bool SharesGradient(size_t k) const { return layer_->shares_gradient(static_cast<int>(k)); }

  Numbers New(const std::vector<float>& values) {
    Numbers numbers(device_, ElementType::kFloat32, static_cast<int64_t>(values.size()));
    numbers.Write(values);
    return numbers;
  }
  void Finish() {
    const auto finished = device_.device().Finish();
    ASSERT_TRUE(finished.ok()) << finished.status();
  }

  void Bind() {
    LayerTensors tensors;
    const TensorFormat& output = layer_->output();
    output_ = std::make_unique<Numbers>(device_, output.type, output.size());
    for (int k = 0; k < consumers_; ++k) {
      output_gradients_.emplace_back(device_, output.type, output.size());
      tensors.output_gradients.push_back(output_gradients_.back().get());
    }
    for (const TensorFormat& format : formats_) {
      inputs_.emplace_back(device_, format.type, format.size());
      input_gradients_.emplace_back(device_, format.type, format.size());
      tensors.inputs.push_back(inputs_.back().get());
    }
    tensors.output = output_->get();
    for (size_t k = 0; k < inputs_.size(); ++k) {
      tensors.input_gradients.push_back(SharesGradient(k) ? output_gradients_[0].get()
                                                          : input_gradients_[k].get());
    }
    // In floats, rounded up.
    kept_ = std::make_unique<Numbers>(device_, ElementType::kFloat32, layer_->kept_bytes() / 4 + 1);
    scratch_ =
        std::make_unique<Numbers>(device_, ElementType::kFloat32, layer_->scratch_bytes() / 4 + 1);
    tensors.kept = kept_->get();
    tensors.scratch = scratch_->get();
    layer_->Bind(tensors);
  }

  DeviceUnderTest& device_;
  const int consumers_;
  std::vector<TensorFormat> formats_;
  std::unique_ptr<Layer> layer_;
  std::vector<Numbers> inputs_;
  std::unique_ptr<Numbers> output_;
  std::vector<Numbers> output_gradients_;
  std::vector<Numbers> input_gradients_;
  std::unique_ptr<Numbers> kept_;
  std::unique_ptr<Numbers> scratch_;
  std::unique_ptr<Numbers> replica_;
  std::unique_ptr<Numbers> gradient_;
};

void ExpectNear(const std::vector<float>& actual, const std::vector<float>& expected,
                float tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  float largest = 1;
  for (float value : expected) largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i < actual.size(); ++i) {
    ASSERT_NEAR(actual[i], expected[i], tolerance * largest) << what << " element " << i;
  }
}

// Numbers that the device reads exactly: where it rounded them, a ReLU of a sum near 0 could
// go either way, and a gradient with it.
ReferenceCall<float> MakeRoundedCall(const OperationCase& c, const DeviceUnderTest& device) {
  ReferenceCall<float> call = MakeCall<float>(c);
  for (std::vector<float>& input : call.inputs) input = Rounded(input, c.operation, device);
  call.replica = Rounded(call.replica, c.operation, device);
  return call;
}
std::vector<float> MakeOutputGradient(const OperationCase& c, const DeviceUnderTest& device) {
  return Rounded(RandomValues<float>(ReferenceShapeOf(c.operation, c.inputs).size(), 9),
                 c.operation, device);
}

std::vector<OperationCase> AllOperations() {
  std::vector<OperationCase> operations = SmallCases();
  const std::vector<OperationCase> large = LargeCases();
  operations.insert(operations.end(), large.begin(), large.end());
  return operations;
}

}  // namespace

std::vector<LayerCase> InferenceCases(const std::vector<Layout>& layouts) {
  std::vector<LayerCase> cases;
  for (const OperationCase& operation : AllOperations()) {
    for (Layout layout : layouts) cases.push_back({operation, layout, 1});
  }
  return cases;
}

std::vector<LayerCase> LayerCases(const std::vector<Layout>& layouts) {
  std::vector<LayerCase> cases;
  for (const OperationCase& operation : AllOperations()) {
    for (Layout layout : layouts) cases.push_back({operation, layout, 1});
    cases.push_back({operation, layouts.back(), 2});
    cases.push_back({operation, Layout::kNhwc, 3});
  }
  return cases;
}

std::string NameOf(const LayerCase& c) {
  static constexpr const char* kNames[] = {"Nchw", "Nhwc", "Nchw8c", "Nchw16c"};
  return c.operation.name + kNames[static_cast<int>(c.layout)] + std::to_string(c.consumers);
}

void ExpectAgreesWithTheReference(const LayerCase& layer_case, DeviceUnderTest& device) {
  const OperationCase& c = layer_case.operation;
  const ReferenceCall<float> call = MakeRoundedCall(c, device);
  LayerUnderTest layer(layer_case, Mode::kTraining, device);
  ExpectNear(layer.Forward(call), RunReference(c.operation, call), device.tolerance(), "output");

  const std::vector<float> dy = MakeOutputGradient(c, device);
  const ReferenceGradient<float> expected = RunReferenceBackward(c.operation, call, dy);
  const ReferenceGradient<float> actual = layer.Backward(call, dy);
  for (size_t k = 0; k < expected.inputs.size(); ++k) {
    ExpectNear(actual.inputs[k], expected.inputs[k], device.tolerance(),
               "gradient of input " + std::to_string(k));
  }
  ExpectNear(actual.replica, expected.replica, device.tolerance(), "gradient of the replica");
}

void ExpectAgreesInInference(const LayerCase& layer_case, DeviceUnderTest& device) {
  const OperationCase& c = layer_case.operation;
  ReferenceCall<float> call = MakeRoundedCall(c, device);
  for (float& value : call.replica) value = std::abs(value) + 0.125f;  // variances are positive
  call.replica = Rounded(call.replica, c.operation, device);
  call.mode = Mode::kInference;
  LayerUnderTest layer(layer_case, Mode::kInference, device);
  ExpectNear(layer.Forward(call), RunReference(c.operation, call), device.tolerance(), "output");
}

void ExpectRepeatsItselfBitByBit(const LayerCase& layer_case, DeviceUnderTest& device) {
  const OperationCase& c = layer_case.operation;
  const ReferenceCall<float> call = MakeRoundedCall(c, device);
  const std::vector<float> dy = MakeOutputGradient(c, device);
  LayerUnderTest first(layer_case, Mode::kTraining, device);
  LayerUnderTest second(layer_case, Mode::kTraining, device);
  EXPECT_EQ(first.Forward(call), second.Forward(call));
  EXPECT_EQ(first.Backward(call, dy).replica, second.Backward(call, dy).replica);
}

}  // namespace grapevine
