#include "node/runner/gradient_lane.h"

#include <glog/logging.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "kernels/vector/replica_layout.h"

namespace grapevine {

GradientLane::GradientLane(std::unique_ptr<GradientComputer> computer, DataPath* data_path,
                           const NodeExchange* exchange, TraceRecorder* trace)
    : computer_(std::move(computer)), data_path_(data_path), exchange_(exchange), trace_(trace) {}

void GradientLane::Ask(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  CHECK(computer_ != nullptr) << "a node without an objective was asked for a gradient";
  CHECK(!asked_) << "a gradient of round " << round << " was asked for before that of "
                 << asked_->round << " began";
  asked_ = {.at = data_path_->vectors().At(at),
            .into = into,
            .round = round,
            .cuts = {cuts.begin(), cuts.end()},
            .after = exchange_->last_send()};
}

void GradientLane::Begin(bool model_held) {
  if (!asked_ || (model_held && !HeldBackFor().empty())) return;
  Request request = *std::exchange(asked_, std::nullopt);
  if (trace_ != nullptr) trace_->BeginGradient();
  data_path_->BeforeGradient(request.at, request.into);
  if (!data_path_->status().ok()) return;
  at_ = request.at;
  gradient_ = data_path_->vectors().At(request.into);
  computer_->Compute(std::move(request.at), gradient_, request.round, std::move(request.cuts));
}

void GradientLane::End() { at_ = gradient_ = {}; }

std::set<Rank> GradientLane::HeldBackFor() const {
  return asked_ ? exchange_->Leaving(asked_->after) : std::set<Rank>{};
}

std::string GradientLane::WhereNotFinite(const ReplicaLayout& layout) const {
  for (const auto& [memory, whose] :
       {std::pair(at_, "replica"), std::pair(gradient_, "gradient")}) {
    const absl::StatusOr<SharedVector> vector = data_path_->Read(memory);
    if (!vector.ok()) continue;
    const std::string tensor = FirstNonFinite(layout, vector->data.get());
    if (!tensor.empty()) return absl::StrCat(tensor, " of its ", whose);
  }
  return "";
}

}  // namespace grapevine
