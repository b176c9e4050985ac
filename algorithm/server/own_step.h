// A worker's own step along its gradient, x' = x - lr u(g), with its own optimizer: for rules
// whose workers do not leave the steps to the servers.
//
// Thread-safety: as its owner's.
#ifndef GRAPEVINE_ALGORITHM_SERVER_OWN_STEP_H_
#define GRAPEVINE_ALGORITHM_SERVER_OWN_STEP_H_

#include <utility>

#include "algorithm/algorithm.h"
#include "algorithm/host.h"

namespace grapevine {

class OwnStep {
 public:
  explicit OwnStep(LearningRate learning_rate) : learning_rate_(std::move(learning_rate)) {}

  void Start(Host& host);
  // The stepped model, in the gradient's memory: a vector less.
  Vec Take(Vec model, Vec gradient, Round step, Round nominal_round, Host& host);

 private:
  const LearningRate learning_rate_;
  Vec state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_OWN_STEP_H_
