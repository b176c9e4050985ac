#include "node/node_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/memory_traffic.h"
#include "optim/replica_step.h"

namespace grapevine {
namespace {

using Clock = std::chrono::steady_clock;

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

void NodeHost::Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  CHECK(parts_.gradients != nullptr) << "a node without an objective was asked for a gradient";
  gate_.Ask(
      {.at = vectors_.At(at), .into = into, .round = round, .cuts = {cuts.begin(), cuts.end()}});
}

void NodeHost::StartGradient(bool model_held) {
  std::optional<GradientRequest> request = gate_.Admit(model_held);
  if (!request) return;
  if (parts_.trace != nullptr) parts_.trace->BeginGradient();
  parts_.gradients->Compute(std::move(request->at), vectors_.At(request->into), request->round,
                            std::move(request->cuts));
}

void NodeHost::Combine(Part out, std::span<const Term> terms) {
  const Clock::time_point begin = Clock::now();
  vectors_.Combine(out, terms);
  CountPass(begin, CombineTraffic(terms.size(), out.size));
}

void NodeHost::CountPass(Clock::time_point begin, int64_t bytes) {
  const Clock::time_point end = Clock::now();
  arithmetic_.seconds += std::chrono::duration<double>(end - begin).count();
  arithmetic_.bytes += bytes;
  if (parts_.trace != nullptr) parts_.trace->Mix(begin, end);
}

void NodeHost::Step(ReplicaRange range, Vec out, std::span<const Term> mix, Vec own, Vec gradient,
                    Vec state, const StepParams& params) {
  const Clock::time_point begin = Clock::now();
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
  CountPass(begin, StepTraffic(mix.size(), parts_.optimizer->state_vectors(), range.size));
}

void NodeHost::Send(Rank to, Tag tag, Part part) {
  if (parts_.trace != nullptr) {
    parts_.trace->BeginSend(to, tag, part.size * static_cast<int64_t>(sizeof(float)));
  }
  gate_.OnSend(tag.round);
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
