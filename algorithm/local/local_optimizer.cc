#include "algorithm/local/local_optimizer.h"

namespace grapevine {

Vec OwnStep::Take(Vec model, Vec gradient, Round step, Round nominal_round, Host& host) {
  const Term own{1.0, {model, 0, host.replica_size()}};
  host.Step({.range = host.whole_replica(),
             .out = gradient,
             .mix = {&own, 1},
             .own = model,
             .gradient = gradient,
             .state = state_.vector(),
             .step = state_.StepIn(step),
             .learning_rate = learning_rate_(nominal_round)});
  return gradient;
}

}  // namespace grapevine
