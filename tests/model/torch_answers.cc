#include "tests/model/torch_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <utility>

namespace grapevine {
namespace {

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
