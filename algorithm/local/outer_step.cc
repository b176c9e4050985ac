#include "algorithm/local/outer_step.h"

#include "algorithm/local/averaging.h"

namespace grapevine {
namespace {

// Appends to `sum` the elements `range` of every term, times `factor`.
void Append(double factor, const Averaging::Terms& terms, ReplicaRange range,
            Averaging::Terms* sum) {
  if (factor == 0) return;
  for (const Term& term : terms) {
    sum->push_back(
        {factor * term.weight, {term.part.vector, term.part.offset + range.offset, range.size}});
  }
}

void CombineRange(Vec out, ReplicaRange range, const Averaging::Terms& sum, Host& host) {
  if (range.size > 0) host.Combine({out, range.offset, range.size}, sum);
}

}  // namespace

void OuterOptimizer::Start(Vec replica, Host& host) {
  anchor_ = CopyOf(replica, "the outer optimizer's anchor", host);
}

Vec OuterOptimizer::NewMomentum(Host& host) const {
  return host.New(host.parameters().size, "the outer optimizer's momentum");
}

void OuterOptimizer::VisitState(StateVisitor& state, Host& host) {
  state.Vector("outer.anchor", anchor_);
  double moved = momentum_ ? 1 : 0;
  state.Number("outer.moved", &moved);
  if (moved == 0) return;
  if (!momentum_) momentum_ = NewMomentum(host);
  state.Vector("outer.momentum", momentum_);
}

void OuterOptimizer::Prepare(Vec replica, Host& host) {
  if (rule_.anchor_in_share == 0) return;
  const ReplicaRange parameters = host.parameters();
  CombineRange(replica, parameters,
               {{1.0, {replica, 0, parameters.size}},
                {rule_.anchor_in_share, {anchor_, 0, parameters.size}}},
               host);
}

Averaging::Terms OuterOptimizer::Replace(Vec, const Averaging::Terms& average, double learning_rate,
                                         Host& host) {
  const OuterCoefficients step = rule_.step(learning_rate);
  const ReplicaRange parameters = host.parameters();
  const Averaging::Terms anchor = {{1.0, host.Whole(anchor_)}};
  Averaging::Terms sum;
  if (momentum_) sum.push_back({step.keep, {momentum_, 0, parameters.size}});
  if (!momentum_) momentum_ = NewMomentum(host);
  Append(step.anchor_to_momentum, anchor, parameters, &sum);
  Append(step.average_to_momentum, average, parameters, &sum);
  CombineRange(momentum_, parameters, sum, host);

  sum.clear();
  Append(step.anchor_to_anchor, anchor, parameters, &sum);
  Append(step.average_to_anchor, average, parameters, &sum);
  sum.push_back({step.momentum_to_anchor, {momentum_, 0, parameters.size}});
  CombineRange(anchor_, parameters, sum, host);

  const ReplicaRange buffers{parameters.size, host.replica_size() - parameters.size};
  sum.clear();
  Append(1.0, average, buffers, &sum);
  CombineRange(anchor_, buffers, sum, host);
  return anchor;
}

}  // namespace grapevine
