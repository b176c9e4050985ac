#include "node/node_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "optim/replica_step.h"

namespace grapevine {
namespace {

// Adds the time of a scope to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(seconds) {}
  ~Stopwatch() {
    *seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double* const seconds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

NodeHost::NodeHost(Parts parts) : parts_(std::move(parts)) {}

Vec NodeHost::InitialReplica(ReplicaRange range) {
  const Vec replica = vectors_.New(range.size);
  if (range.size == replica_size()) {
    status_.Update(parts_.initialize(vectors_.At(replica).data.get()));
    return replica;
  }
  // Not from the pool, which would keep the memory of a whole replica.
  const SharedVector whole = NewSharedVector(replica_size());
  status_.Update(parts_.initialize(whole.data.get()));
  std::copy_n(whole.data.get() + range.offset, range.size, vectors_.At(replica).data.get());
  return replica;
}

Vec NodeHost::NewOptimizerState(ReplicaRange range) {
  return grapevine::NewOptimizerState(*parts_.optimizer, *parts_.layout, range, vectors_);
}

void NodeHost::Gradient(Vec at, Vec into, Round round) {
  CHECK(parts_.gradients != nullptr) << "a node without an objective was asked for a gradient";
  parts_.gradients->Compute(vectors_.At(at), vectors_.At(into), round);
}

void NodeHost::Combine(Part out, std::span<const Term> terms) {
  const Stopwatch stopwatch(&arithmetic_seconds_);
  vectors_.Combine(out, terms);
}

void NodeHost::Step(ReplicaRange range, Vec out, std::span<const Term> mix, Vec own, Vec gradient,
                    Vec state, const StepParams& params) {
  const Stopwatch stopwatch(&arithmetic_seconds_);
  ApplyStep(*parts_.optimizer, *parts_.layout,
            {.range = range,
             .out = out,
             .mix = mix,
             .own = own,
             .gradient = gradient,
             .state = state,
             .learning_rate = params.learning_rate,
             .gradient_scale = params.gradient_scale},
            vectors_);
}

void NodeHost::Send(Rank to, Tag tag, Part part) {
  status_.Update(parts_.transport->Send(to, tag, vectors_.Slice(part)));
}

void NodeHost::Post(Rank from, Tag tag, Part into) {
  status_.Update(parts_.transport->Post(from, tag, vectors_.Slice(into)));
}

SharedVector NodeHost::Model(Vec model) const {
  return model ? vectors_.At(model) : SharedVector{};
}

void NodeHost::Boundary(Round completed, Vec model) { parts_.at_boundary(completed, Model(model)); }

void NodeHost::Rest(Vec model) { parts_.at_rest(Model(model)); }

}  // namespace grapevine
