// What holds for every network.
#include "model/network/network.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/networks/network_kind.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr int64_t kClasses = 10;

struct NetworkCase {
  std::string spec;
  ImageShape image;
  int64_t parameters;  // counted by hand
  int64_t buffers;
};

std::ostream& operator<<(std::ostream& out, const NetworkCase& c) { return out << c.spec; }

Batch MakeBatch(const ImageShape& image, int64_t size, uint64_t stream = 0) {
  KeyedRandom random(3, Purpose::kSyntheticData, stream);
  Batch batch{.size = size};
  for (int64_t i = 0; i < size; ++i) {
    batch.labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
    for (int64_t k = 0; k < image.size(); ++k) {
      batch.images.push_back(static_cast<float>(random.Normal()) +
                             (k % kClasses == batch.labels.back() ? 1.0f : 0.0f));
    }
  }
  return batch;
}

class NetworkTest : public ::testing::TestWithParam<NetworkCase> {
 protected:
  static std::unique_ptr<Network> Make(const NetworkOptions& options = {}) {
    auto network = MakeNetwork(GetParam().spec, GetParam().image, kClasses, options);
    EXPECT_TRUE(network.ok()) << network.status();
    return *std::move(network);
  }
  static std::vector<float> Start(const Network& network, uint64_t seed) {
    std::vector<float> replica(network.layout().size);
    network.Initialize(seed, replica.data());
    return replica;
  }
  static std::vector<float> GradientAt(Network& network, const std::vector<float>& replica,
                                       const Batch& batch) {
    std::vector<float> gradient(replica.size(), std::numeric_limits<float>::quiet_NaN());
    const auto loss = network.Gradient(replica.data(), batch, gradient.data());
    EXPECT_TRUE(loss.ok()) << loss.status();
    return gradient;
  }
};

TEST_P(NetworkTest, HasTheKnownSize) {
  const auto network = Make();
  const ReplicaLayout& layout = network->layout();
  EXPECT_EQ(layout.parameter_size, GetParam().parameters);
  EXPECT_EQ(layout.size - layout.parameter_size, GetParam().buffers);
  EXPECT_EQ(network->input(), GetParam().image);
  EXPECT_EQ(network->classes(), kClasses);
}

TEST_P(NetworkTest, StartsFromTheSeedAlone) {
  const auto network = Make();
  EXPECT_EQ(Start(*network, 1), Start(*Make(), 1));
  EXPECT_NE(Start(*network, 1), Start(*network, 2));
}

TEST_P(NetworkTest, WritesEveryElementOfTheGradient) {
  const auto network = Make();
  for (float value : GradientAt(*network, Start(*network, 1), MakeBatch(GetParam().image, 6))) {
    ASSERT_TRUE(std::isfinite(value));
  }
}

TEST_P(NetworkTest, RepeatsItselfBitByBit) {
  const auto first = Make();
  const auto second = Make();
  const std::vector<float> replica = Start(*first, 1);
  const Batch batch = MakeBatch(GetParam().image, 6);
  const std::vector<float> expected = GradientAt(*first, replica, batch);
  EXPECT_EQ(GradientAt(*second, replica, batch), expected);
  // Other batch sizes and evaluations in between leave no trace.
  GradientAt(*second, replica, MakeBatch(GetParam().image, 3, 1));
  EXPECT_TRUE(second->Evaluate(replica.data(), MakeBatch(GetParam().image, 5, 2)).ok());
  EXPECT_EQ(GradientAt(*second, replica, batch), expected);
}

TEST_P(NetworkTest, AGradientStepLowersTheLoss) {
  const auto network = Make();
  std::vector<float> replica = Start(*network, 1);
  const Batch batch = MakeBatch(GetParam().image, 16);
  std::vector<float> gradient(replica.size());
  const auto before = network->Gradient(replica.data(), batch, gradient.data());
  double norm = 0;
  for (int64_t i = 0; i < network->layout().parameter_size; ++i) norm += gradient[i] * gradient[i];
  const double rate = 0.01 * *before / norm;
  for (int64_t i = 0; i < network->layout().parameter_size; ++i) {
    replica[i] -= static_cast<float>(rate * gradient[i]);
  }
  const auto after = network->Gradient(replica.data(), batch, gradient.data());
  // First order: one hundredth of the loss.
  EXPECT_NEAR((*before - *after) / *before, 0.01, 0.002);
}

TEST_P(NetworkTest, EvaluationDoesNotDependOnTheBatching) {
  const auto network = Make();
  const std::vector<float> replica = Start(*network, 1);
  const int64_t size = GetParam().image.size();
  const Batch whole = MakeBatch(GetParam().image, 7);
  const auto expected = network->Evaluate(replica.data(), whole);
  ASSERT_TRUE(expected.ok());
  EvaluationSums sum;
  for (int64_t begin = 0; begin < 7; begin += 3) {
    const int64_t end = std::min<int64_t>(7, begin + 3);
    Batch part{.size = end - begin};
    part.images.assign(whole.images.begin() + begin * size, whole.images.begin() + end * size);
    part.labels.assign(whole.labels.begin() + begin, whole.labels.begin() + end);
    const auto evaluation = network->Evaluate(replica.data(), part);
    ASSERT_TRUE(evaluation.ok());
    sum.loss_sum += evaluation->loss_sum;
    sum.correct += evaluation->correct;
    sum.samples += evaluation->samples;
  }
  EXPECT_EQ(sum.samples, expected->samples);
  EXPECT_EQ(sum.correct, expected->correct);
  EXPECT_NEAR(sum.loss_sum, expected->loss_sum, 1e-4);
}

TEST_P(NetworkTest, ANanInTheReplicaShowsInTheLoss) {
  const auto network = Make();
  std::vector<float> replica = Start(*network, 1);
  for (int64_t i = 0; i < network->layout().parameter_size; ++i) replica[i] = std::nanf("");
  std::vector<float> gradient(replica.size());
  const auto loss =
      network->Gradient(replica.data(), MakeBatch(GetParam().image, 4), gradient.data());
  ASSERT_TRUE(loss.ok());
  EXPECT_TRUE(std::isnan(*loss));
}

TEST_P(NetworkTest, RefusesBatchesThatDoNotFit) {
  const auto network = Make();
  std::vector<float> replica = Start(*network, 1);
  std::vector<float> gradient(replica.size());
  Batch batch = MakeBatch(GetParam().image, 4);
  batch.labels[2] = 10;
  auto loss = network->Gradient(replica.data(), batch, gradient.data());
  EXPECT_EQ(loss.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(loss.status().message().find("label 10 is outside of the 10 classes"),
            std::string::npos);
  batch.labels[2] = 0;
  batch.images.pop_back();
  EXPECT_EQ(network->Evaluate(replica.data(), batch).status().code(),
            absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkTest,
                         ::testing::Values(NetworkCase{"softmax", {28, 28, 1}, 7850, 0},
                                           NetworkCase{"mlp", {28, 28, 1}, 235146, 0},
                                           NetworkCase{"lenet5", {28, 28, 1}, 61706, 0},
                                           NetworkCase{"lenet5", {32, 32, 3}, 62006, 0},
                                           NetworkCase{"resnet20", {32, 32, 3}, 269722, 1376},
                                           NetworkCase{"resnet50", {32, 32, 3}, 23528522, 53120}),
                         [](const auto& info) {
                           return info.param.spec + std::to_string(info.param.image.channels);
                         });

void ExpectUsageError(const absl::Status& status, const std::string& part) {
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  EXPECT_NE(status.message().find(part), std::string::npos) << status;
}

TEST(MakeNetworkTest, NamesWhatIsKnown) {
  ExpectUsageError(MakeNetwork("lenet6", {28, 28, 1}, 10, {}).status(),
                   "did you mean lenet5? known: lenet5, mlp[:width=256], resnet20, "
                   "resnet50[:zero_gamma=no], softmax");
}

TEST(MakeNetworkTest, RefusesUnknownOptions) {
  ExpectUsageError(MakeNetwork("mlp:depth=3", {28, 28, 1}, 10, {}).status(), "depth");
}

TEST(MakeNetworkTest, TheWidthOfAPerceptronIsAnOption) {
  const auto network = MakeNetwork("mlp:width=6", {2, 2, 1}, 10, {});
  ASSERT_TRUE(network.ok()) << network.status();
  EXPECT_EQ((*network)->layout().parameter_size, (4 + 1) * 6 + (6 + 1) * 3 + (3 + 1) * 10);
  ExpectUsageError(MakeNetwork("mlp:width=1", {2, 2, 1}, 10, {}).status(), "width");
}

// "NAME EXTENT EXTENT ..."
std::string Describe(const TensorView& view) {
  std::string text = view.name;
  for (const int64_t extent : view.shape) text += " " + std::to_string(extent);
  return text;
}

// The beginning of [(n, *p.shape) for n, p in torchvision.models.resnet50().named_parameters()].
const char* const kResNet50Begins[] = {
    "conv1.weight 64 3 7 7",
    "bn1.weight 64",
    "bn1.bias 64",
    "layer1.0.conv1.weight 64 64 1 1",
    "layer1.0.bn1.weight 64",
    "layer1.0.bn1.bias 64",
    "layer1.0.conv2.weight 64 64 3 3",
    "layer1.0.bn2.weight 64",
    "layer1.0.bn2.bias 64",
    "layer1.0.conv3.weight 256 64 1 1",
    "layer1.0.bn3.weight 256",
    "layer1.0.bn3.bias 256",
    "layer1.0.downsample.0.weight 256 64 1 1",
    "layer1.0.downsample.1.weight 256",
    "layer1.0.downsample.1.bias 256",
    "layer1.1.conv1.weight 64 256 1 1",
};

TEST(MakeNetworkTest, ResNet50HasTorchvisionsTensors) {
  const auto network = MakeNetwork("resnet50", {224, 224, 3}, 1000, {});
  ASSERT_TRUE(network.ok()) << network.status();
  const ReplicaLayout& layout = (*network)->layout();
  EXPECT_EQ(layout.parameter_size, 25'557'032);
  ASSERT_EQ(layout.parameters.size(), 161u);
  EXPECT_EQ(layout.buffers.size(), 106u);
  for (size_t i = 0; i < std::size(kResNet50Begins); ++i) {
    EXPECT_EQ(Describe(layout.parameters[i]), kResNet50Begins[i]);
  }
  EXPECT_EQ(Describe(layout.parameters[159]), "fc.weight 1000 2048");
  EXPECT_EQ(Describe(layout.parameters[160]), "fc.bias 1000");
  EXPECT_EQ(Describe(layout.buffers[105]), "layer4.2.bn3.running_var 2048");
}

TEST(MakeNetworkTest, TheLastNormalizationsOfResNet50StartAtZeroOrOne) {
  for (const auto& [spec, expected] :
       {std::pair("resnet50", 0.0f), std::pair("resnet50:zero_gamma=no", 1.0f)}) {
    const auto network = MakeNetwork(spec, {32, 32, 3}, kClasses, {});
    ASSERT_TRUE(network.ok()) << network.status();
    std::vector<float> replica((*network)->layout().size);
    (*network)->Initialize(1, replica.data());
    int found = 0;
    for (const TensorView& view : (*network)->layout().parameters) {
      if (!view.name.ends_with(".weight") || view.shape.size() != 1) continue;
      const bool last = view.name.ends_with("bn3.weight");
      EXPECT_EQ(replica[view.offset], last ? expected : 1) << spec << " " << view.name;
      found += last;
    }
    EXPECT_EQ(found, 16);
  }
}

TEST(MakeNetworkTest, RefusesImagesThatAreTooSmall) {
  ExpectUsageError(MakeNetwork("lenet5", {8, 8, 1}, 10, {}).status(),
                   "lenet5: conv2: a kernel of 5 does not fit an input of 6x4x4");
}

}  // namespace
}  // namespace grapevine
