#include "sim/engine/replica_vectors.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/vector/norms.h"
#include "optim/optimizer.h"

namespace grapevine {

ReplicaVectors::ReplicaVectors(Parts parts)
    : parts_(std::move(parts)), gradients_(parts_.objectives.size()) {}

absl::StatusOr<Vec> ReplicaVectors::InitialReplica(ReplicaRange range) {
  if (!initial_.data) {
    const SharedVector initial = NewSharedVector(replica_size());
    RETURN_IF_ERROR(parts_.initialize(initial.data.get()));
    initial_ = initial;
  }
  const Vec replica = table_.New(range.size, "the starting replica");
  std::copy_n(initial_.data.get() + range.offset, range.size, table_.At(replica).data.get());
  return replica;
}

Vec ReplicaVectors::NewOptimizerState(ReplicaRange range) {
  const Vec state = table_.New(OptimizerStateSize(*parts_.optimizer, *parts_.layout, range),
                               "the optimizer's state");
  table_.Clear(state);
  return state;
}

void ReplicaVectors::Step(const StepRequest& request) {
  table_.MakeOwn(request.out);
  ApplyStep(*parts_.optimizer, *parts_.layout, request, table_);
}

void ReplicaVectors::BeginGradient(Rank rank, Vec at, Vec into, Round round) {
  gradients_[rank] = {table_.At(at), into, round};
}

absl::StatusOr<double> ReplicaVectors::EndGradient(Rank rank) {
  const PendingGradient work = std::exchange(gradients_[rank], {});
  table_.MakeOwn(work.into);
  absl::StatusOr<double> loss = parts_.objectives[rank]->Gradient(work.at.data.get(), work.round,
                                                                  table_.At(work.into).data.get());
  if (!loss.ok()) return loss;
  const float* const gradient = table_.At(work.into).data.get();
  if (std::isfinite(*loss) && std::isfinite(SquaredNorm(gradient, replica_size()))) return loss;
  const std::string tensor = FirstNonFinite(*parts_.layout, gradient);
  return WithFailure(
      absl::OutOfRangeError(
          absl::StrCat("the loss is ", *loss,
                       tensor.empty() ? "" : ", and " + tensor + " of its gradient is not finite")),
      Failure::kDiverged);
}

void ReplicaVectors::Hold(MessageId message, const Payload& payload) {
  if (message >= held_.size()) held_.resize(message + 1);
  held_[message] = std::visit(
      [this](const Part& part) {
        const SharedSlice slice = table_.Slice(part);
        return HeldPart{slice, part.size == table_.size(part.vector), SquaredNormOf(slice)};
      },
      payload);
  last_held_ = message;
}

// Elements that go to several neighbours are summed up only once: they are not written while a
// message holds them.
double ReplicaVectors::SquaredNormOf(const SharedSlice& slice) const {
  if (last_held_ < held_.size()) {
    const auto& [last, whole, squared_norm] = held_[last_held_];
    if (last.begin() == slice.begin() && last.size == slice.size) return squared_norm;
  }
  return SquaredNorm(slice.begin(), slice.size);
}

double ReplicaVectors::Deliver(MessageId message, const Payload& into) {
  const HeldPart held = std::exchange(held_[message], {});
  std::visit([&](const Part& part) { DeliverPart(held, part); }, into);
  return held.squared_norm;
}

void ReplicaVectors::DeliverPart(const HeldPart& held, const Part& into) {
  const SharedSlice& from = held.slice;
  CHECK_EQ(from.size, into.size) << "a message and its place differ in size";
  // A replica is shared: copies of it, one for each neighbour, would cost as much
  // as a small network's gradient.
  if (held.whole && into.size == table_.size(into.vector)) {
    table_.Share({from.owner, from.size}, into.vector);
  } else {
    table_.MakeOwn(into.vector);
    std::copy_n(from.begin(), from.size, table_.Slice(into).begin());
  }
}

}  // namespace grapevine
