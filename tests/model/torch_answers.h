// PyTorch's answers, small enough to be kept: of each tensor's gradient the norm, the
// largest element, and some elements spread over it.
//
// A file is lines: "network NAME EVALUATION_LOSS TRAINING_LOSS", then for each of its
// tensors "NAME SIZE LARGEST NORM ELEMENT...".
#ifndef GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_
#define GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "tests/model/torch_cases.h"

namespace grapevine {

struct TensorDigest {
  std::string name;
  int64_t size = 0;
  double largest = 0;  // modulus
  double norm = 0;     // Euclidean
  std::vector<double> elements;
};

struct AnswerDigest {
  double evaluation_loss = 0;
  double training_loss = 0;
  std::vector<TensorDigest> tensors;
};

AnswerDigest Digest(const ReplicaLayout& layout, const NetworkAnswer& answer);

void Write(const std::string& network, const AnswerDigest& digest, std::ostream& out);
// By network; nothing where the file is broken.
std::map<std::string, AnswerDigest> ReadAnswers(const std::string& path);

// Fails the test where `actual` is further from `expected` than PyTorch's own rounding
// explains.
void ExpectSameAnswer(const AnswerDigest& actual, const AnswerDigest& expected, double tolerance);

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_
