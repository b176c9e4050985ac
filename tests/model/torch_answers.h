// The networks that are held against PyTorch, at weights and on batches that follow from
// seeds alone: torch_parity_test asks PyTorch, torch_answers_test has its answers on file.
//
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
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/vector/replica_layout.h"
#include "model/networks/network_registry.h"

namespace grapevine {

inline constexpr int64_t kTorchBatch = 8;

struct TorchCase {
  std::string name;  // in torch_networks.py
  std::string spec;
  ImageShape image;
  // Of an element of the gradient, relative to the largest of its tensor.
  double tolerance = 1e-4;
};

// Of the loss; of a sum over a batch, relative to 1 + loss.
inline constexpr double kTorchLossTolerance = 1e-4;

std::span<const TorchCase> TorchCases();

// A network away from its starting values, where biases of 0 and scales of 1 hide errors.
struct TorchSubject {
  std::unique_ptr<Network> network;
  Batch batch;
  std::vector<float> replica;
};
TorchSubject MakeTorchSubject(const TorchCase& c);

// What a network says at its subject's replica. Losses are means over the batch; the
// gradient has the batch's statistics in the places of the buffers.
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
// By network; nothing where the file is broken.
std::map<std::string, AnswerDigest> ReadAnswers(const std::string& path);

// Fails the test where `actual` is further from `expected` than PyTorch's own rounding
// explains.
void ExpectSameAnswer(const AnswerDigest& actual, const AnswerDigest& expected, double tolerance);

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_TORCH_ANSWERS_H_
