#include "tests/model/torch_cases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr float kLabelSmoothing = 0.1f;  // torch_parity.py has the same
constexpr int64_t kClasses = 10;

Batch MakeBatch(const ImageShape& image) {
  KeyedRandom random(3, Purpose::kSyntheticData);
  Batch batch{.size = kTorchBatch};
  for (int64_t i = 0; i < kTorchBatch * image.size(); ++i) {
    batch.images.push_back(static_cast<float>(random.Normal()));
  }
  for (int64_t i = 0; i < kTorchBatch; ++i) {
    batch.labels.push_back(static_cast<int32_t>(random.Below(kClasses)));
  }
  return batch;
}

void Disturb(TorchSubject* subject) {
  KeyedRandom random(5, Purpose::kSyntheticData, 1);
  const int64_t parameters = subject->network->layout().parameter_size;
  for (size_t i = 0; i < subject->replica.size(); ++i) {
    const double noise = 0.03 * random.Normal();
    // Variances stay positive.
    const bool buffer = static_cast<int64_t>(i) >= parameters;
    subject->replica[i] += static_cast<float>(buffer ? std::abs(noise) : noise);
  }
}

}  // namespace

std::span<const TorchCase> TorchCases() {
  static const TorchCase cases[] = {
      {"softmax", "softmax", {28, 28, 1}},
      {"mlp", "mlp", {28, 28, 1}},
      {"lenet5", "lenet5", {28, 28, 1}},
      {"lenet5-cifar", "lenet5", {32, 32, 3}},
      {"resnet20", "resnet20", {32, 32, 3}},
      // Of its millions of ReLUs rounding switches a few, here as in PyTorch's own
      // fp32, which is up to 2 % from its fp64.
      {"resnet50", "resnet50", {64, 64, 3}, 3e-2},
  };
  return cases;
}

TorchSubject MakeTorchSubject(const TorchCase& c) {
  TorchSubject subject{.batch = MakeBatch(c.image)};
  auto network = MakeNetwork(c.spec, c.image, kClasses, {.label_smoothing = kLabelSmoothing});
  EXPECT_TRUE(network.ok()) << network.status();
  subject.network = *std::move(network);
  subject.replica.resize(subject.network->layout().size);
  subject.network->Initialize(11, subject.replica.data());
  Disturb(&subject);
  return subject;
}

NetworkAnswer AnswerOf(TorchSubject& subject) {
  Network& network = *subject.network;
  NetworkAnswer answer;
  answer.gradient.assign(network.layout().size, std::nanf(""));
  const auto evaluation = network.Evaluate(subject.replica.data(), subject.batch);
  const auto loss = network.Gradient(subject.replica.data(), subject.batch, answer.gradient.data());
  EXPECT_TRUE(evaluation.ok()) << evaluation.status();
  EXPECT_TRUE(loss.ok()) << loss.status();
  answer.evaluation_loss = evaluation->loss_sum / kTorchBatch;
  answer.training_loss = *loss;
  return answer;
}

std::vector<TensorView> Tensors(const ReplicaLayout& layout) {
  std::vector<TensorView> tensors(layout.parameters.begin(), layout.parameters.end());
  tensors.insert(tensors.end(), layout.buffers.begin(), layout.buffers.end());
  return tensors;
}

}  // namespace grapevine
