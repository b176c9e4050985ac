// The networks that are held against PyTorch, at weights and on batches that follow from
// seeds alone: torch_parity_test asks PyTorch, torch_answers_test has its answers on file.
#ifndef GRAPEVINE_TESTS_MODEL_TORCH_CASES_H_
#define GRAPEVINE_TESTS_MODEL_TORCH_CASES_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

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

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_MODEL_TORCH_CASES_H_
