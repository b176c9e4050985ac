// A node's own step along its gradient, x' = x - lr u(g), with its own optimizer: for methods
// without rounds whose nodes do not leave the steps to servers.
//
// Thread-safety: as its owner's.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_OWN_STEP_H_
#define GRAPEVINE_ALGORITHM_LOCAL_OWN_STEP_H_

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

#endif  // GRAPEVINE_ALGORITHM_LOCAL_OWN_STEP_H_
