#include "algorithm/server/asynchronous_sgd.h"

#include <utility>

namespace grapevine {

void GradientPusher::OnGradient(Vec gradient, Round, Round, Host&) { gradient_ = gradient; }

// The old weights make room for the new ones.
Vec GradientPusher::Push(Host& host) {
  host.Drop(std::exchange(weights_, Vec{}));
  return gradient_;
}

void GradientPusher::OnAnswer(Vec answer, Host& host) {
  for (const Vec old : {std::exchange(weights_, answer), std::exchange(gradient_, Vec{})}) {
    if (old) host.Drop(old);
  }
}

void SteppingServer::Start(ReplicaRange range, Host& host) {
  range_ = range;
  state_ = host.NewOptimizerState(range);
}

// In the memory of the gradient.
ServerRule::Moved SteppingServer::Apply(const Update& update, Vec weights, Host& host) {
  const double divisor = adaptive_ ? static_cast<double>(update.staleness + 1) : 1;
  const Term own{1.0, {weights, 0, range_.size}};
  host.Step({.range = range_,
             .out = update.vector,
             .mix = {&own, 1},
             .own = weights,
             .gradient = update.vector,
             .state = state_,
             .step = update.version,
             .learning_rate = learning_rate_(update.nominal_round) / divisor});
  host.Drop(weights);
  return {.weights = update.vector};
}

}  // namespace grapevine
