#include "algorithm/local/local_optimizer.h"

namespace grapevine {

void OwnStep::Start(Host& host) { state_ = host.NewOptimizerState(host.whole_replica()); }

Vec OwnStep::Take(Vec model, Vec gradient, Round step, Round nominal_round, Host& host) {
  const Term own{1.0, {model, 0, host.replica_size()}};
  host.Step({.range = host.whole_replica(),
             .out = gradient,
             .mix = {&own, 1},
             .own = model,
             .gradient = gradient,
             .state = state_,
             .step = step,
             .learning_rate = learning_rate_(nominal_round)});
  return gradient;
}

}  // namespace grapevine
