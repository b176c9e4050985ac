#include "tests/model/torch_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <utility>

#include "random/keyed_random.h"

namespace grapevine {
namespace {

constexpr float kLabelSmoothing = 0.1f;  // torch_parity.py has the same
constexpr int64_t kClasses = 10;

Batch MakeBatch(const TorchCase& c) {
  KeyedRandom random(c.seed, Purpose::kSyntheticData);
  Batch batch{.size = c.batch};
  for (int64_t i = 0; i < c.batch * c.image.size(); ++i) {
    batch.images.push_back(static_cast<float>(random.Normal()));
  }
  for (int64_t i = 0; i < c.batch; ++i) {
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

constexpr int64_t kElements = 7;

TensorDigest DigestOf(const TensorView& view, const std::vector<float>& gradient) {
  TensorDigest digest{.name = view.name, .size = view.size};
  const float* const values = gradient.data() + view.offset;
  double squares = 0;
  for (int64_t i = 0; i < view.size; ++i) {
    digest.largest = std::max(digest.largest, std::abs(double{values[i]}));
    squares += double{values[i]} * values[i];
  }
  digest.norm = std::sqrt(squares);
  // Over the whole tensor, in other rows, channels and places of a filter each time.
  const int64_t count = std::min(view.size, kElements);
  for (int64_t k = 0; k < count; ++k) {
    digest.elements.push_back(values[count == 1 ? 0 : k * (view.size - 1) / (count - 1)]);
  }
  return digest;
}

}  // namespace

std::span<const TorchCase> TorchCases() {
  static const TorchCase cases[] = {
      {"softmax", "softmax", {28, 28, 1}},
      {"mlp", "mlp", {28, 28, 1}},
      {"lenet5", "lenet5", {28, 28, 1}},
      {"lenet5-cifar", "lenet5", {32, 32, 3}},
      // No input of any of its ReLUs is nearer to 0 than 1.4e-5, some ten times the rounding
      // of any processor's kernels: one ReLU that switches changes most gradients by 1 %.
      {"resnet20", "resnet20", {32, 32, 3}, 1e-4, 2, 136},
      // Rounding switches a few of its millions of ReLUs, here as in PyTorch's own
      // fp32, which is up to 2 % from its fp64.
      {"resnet50", "resnet50", {64, 64, 3}, 3e-2},
  };
  return cases;
}

TorchSubject MakeTorchSubject(const TorchCase& c) {
  TorchSubject subject{.batch = MakeBatch(c)};
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
  answer.evaluation_loss = evaluation->loss_sum / static_cast<double>(subject.batch.size);
  answer.training_loss = *loss;
  return answer;
}

std::vector<TensorView> Tensors(const ReplicaLayout& layout) {
  std::vector<TensorView> tensors(layout.parameters.begin(), layout.parameters.end());
  tensors.insert(tensors.end(), layout.buffers.begin(), layout.buffers.end());
  return tensors;
}

AnswerDigest Digest(const ReplicaLayout& layout, const NetworkAnswer& answer) {
  AnswerDigest digest{.evaluation_loss = answer.evaluation_loss,
                      .training_loss = answer.training_loss};
  for (const TensorView& view : Tensors(layout)) {
    digest.tensors.push_back(DigestOf(view, answer.gradient));
  }
  return digest;
}

void Write(const std::string& network, const AnswerDigest& digest, std::ostream& out) {
  out << std::setprecision(7) << "network " << network << ' ' << digest.evaluation_loss << ' '
      << digest.training_loss << '\n';
  for (const TensorDigest& tensor : digest.tensors) {
    out << tensor.name << ' ' << tensor.size << ' ' << tensor.largest << ' ' << tensor.norm;
    for (double element : tensor.elements) out << ' ' << element;
    out << '\n';
  }
}

std::map<std::string, AnswerDigest> ReadAnswers(const std::string& path) {
  std::ifstream file(path);
  std::map<std::string, AnswerDigest> answers;
  AnswerDigest* current = nullptr;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    std::string first;
    fields >> first;
    if (first == "network") {
      std::string name;
      fields >> name;
      current = &answers[name];
      fields >> current->evaluation_loss >> current->training_loss;
    } else {
      if (current == nullptr) return {};
      TensorDigest tensor{.name = first};
      fields >> tensor.size >> tensor.largest >> tensor.norm;
      for (double element; fields >> element;) tensor.elements.push_back(element);
      current->tensors.push_back(std::move(tensor));
    }
  }
  return answers;
}

void ExpectSameAnswer(const AnswerDigest& actual, const AnswerDigest& expected, double tolerance) {
  EXPECT_NEAR(actual.evaluation_loss, expected.evaluation_loss,
              kTorchLossTolerance * (1 + expected.evaluation_loss));
  EXPECT_NEAR(actual.training_loss, expected.training_loss, kTorchLossTolerance);
  ASSERT_EQ(actual.tensors.size(), expected.tensors.size());
  for (size_t t = 0; t < expected.tensors.size(); ++t) {
    const TensorDigest& have = actual.tensors[t];
    const TensorDigest& want = expected.tensors[t];
    SCOPED_TRACE(want.name);
    ASSERT_EQ(have.name, want.name);
    ASSERT_EQ(have.size, want.size);
    ASSERT_EQ(have.elements.size(), want.elements.size());
    const double error = tolerance * want.largest;
    EXPECT_NEAR(have.largest, want.largest, error);
    EXPECT_NEAR(have.norm, want.norm, error * std::sqrt(static_cast<double>(want.size)));
    for (size_t i = 0; i < want.elements.size(); ++i) {
      EXPECT_NEAR(have.elements[i], want.elements[i], error) << "element " << i;
    }
  }
}

}  // namespace grapevine
