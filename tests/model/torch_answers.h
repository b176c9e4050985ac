// The networks that are compared with PyTorch, at weights and on batches that depend only on
// seeds: torch_parity_test asks PyTorch, torch_answers_test reads its stored answers.
//
// Stored answers are small: for each tensor's gradient the norm, the largest element, and some
// elements spread over it.
//
// A file has, for each network, the line "network NAME EVALUATION_LOSS TRAINING_LOSS" and then a
// line "NAME SIZE LARGEST NORM ELEMENT..." for each of its tensors.
#ifndef GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_
#define GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "model/networks/network_kind.h"

namespace grapevine {

struct TorchCase {
  std::string name;  // in torch_networks.py
  std::string spec;
  ImageShape image;
  // For an element of the gradient, relative to the largest one of its tensor.
  double tolerance = 1e-4;
  int64_t batch = 8;
  uint64_t seed = 3;  // of the batch
};

// For the training loss; for the evaluation loss, a sum over a batch, relative to 1 + loss.
inline constexpr double kTorchLossTolerance = 1e-4;

std::span<const TorchCase> TorchCases();

// A network away from its starting values, where biases of 0 and scales of 1 hide errors.
struct TorchSubject {
  std::unique_ptr<Network> network;
  Batch batch;
  std::vector<float> replica;
};
TorchSubject MakeTorchSubject(const TorchCase& c);

// A network's results at its subject's replica. Losses are means over the batch; in the buffers'
// places the gradient has the batch's statistics.
struct NetworkAnswer {
  double evaluation_loss = 0;
  double training_loss = 0;
  std::vector<float> gradient;
};
NetworkAnswer AnswerOf(TorchSubject& subject);

// The views of parameters and buffers, in the replica's order.
std::vector<TensorView> Tensors(const ReplicaLayout& layout);

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
// By network; empty if the file is malformed.
std::map<std::string, AnswerDigest> ReadAnswers(const std::string& path);

// Fails the test if `actual` is further from `expected` than PyTorch's own rounding explains.
void ExpectSameAnswer(const AnswerDigest& actual, const AnswerDigest& expected, double tolerance);

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_
