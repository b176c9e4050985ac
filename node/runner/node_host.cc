#include "node/runner/node_host.h"

#include <glog/logging.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/message.h"
#include "kernels/vector/finite_tensors.h"
#include "kernels/vector/memory_traffic.h"
#include "optim/replica_step.h"

namespace grapevine {
NodeHost::NodeHost(Parts parts) : parts_(std::move(parts)) {}

Vec NodeHost::InitialReplica(ReplicaRange range) {
  const Vec replica = vectors().New(range.size, "the starting replica");
  status_.Update(parts_.data_path->Write(replica, [&](float* memory) {
    if (range.size == replica_size()) return parts_.initialize(memory);
    // Not from a pool, which would keep the memory of a whole replica.
    const SharedVector whole = NewSharedVector(replica_size());
    absl::Status status = parts_.initialize(whole.data.get());
    std::copy_n(whole.data.get() + range.offset, range.size, memory);
    return status;
  }));
  return replica;
}

Vec NodeHost::NewOptimizerState(ReplicaRange range) {
  const int64_t size = OptimizerStateSize(*parts_.optimizer, *parts_.layout, range);
  const Vec state = vectors().New(size, "the optimizer's state");
  const int64_t bytes = CombineTraffic(0, size);
  const Part written = vectors().Whole(state);
  parts_.data_path->Pass({}, {&written, 1}, bytes, [&] { vectors().Clear(state); });
  return state;
}

void NodeHost::Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) {
  CHECK(parts_.gradients != nullptr) << "a node without an objective was asked for a gradient";
  gate_.Ask(
      {.at = vectors().At(at), .into = into, .round = round, .cuts = {cuts.begin(), cuts.end()}});
  StartGradient();  // before the sends that follow, so that the device has work
}

void NodeHost::StartGradient() {
  std::optional<GradientRequest> request = gate_.Admit(parts_.model_held());
  if (!request) return;
  if (parts_.trace != nullptr) parts_.trace->BeginGradient();
  parts_.data_path->BeforeGradient(request->at, request->into);
  if (!parts_.data_path->status().ok()) return;
  gradient_at_ = request->at;
  gradient_ = vectors().At(request->into);
  parts_.gradients->Compute(std::move(request->at), gradient_, request->round,
                            std::move(request->cuts));
}

void NodeHost::EndGradient() { gradient_at_ = gradient_ = {}; }

std::string NodeHost::WhereNotFinite() {
  for (const auto& [memory, whose] :
       {std::pair(gradient_at_, "replica"), std::pair(gradient_, "gradient")}) {
    const absl::StatusOr<SharedVector> vector = parts_.data_path->Read(memory);
    if (!vector.ok()) continue;
    const std::string tensor = FirstNonFinite(*parts_.layout, vector->data.get());
    if (!tensor.empty()) return absl::StrCat(tensor, " of its ", whose);
  }
  return "";
}

void NodeHost::Combine(Part out, std::span<const Term> terms) {
  std::vector<Part> reads;
  for (const Term& term : terms) reads.push_back(term.part);
  parts_.data_path->Pass(reads, {&out, 1}, CombineTraffic(terms.size(), out.size),
                         [&] { vectors().Combine(out, terms); });
}

void NodeHost::Step(const StepRequest& request) {
  std::vector<Part> reads = {vectors().Whole(request.own), vectors().Whole(request.gradient)};
  for (const Term& term : request.mix) reads.push_back(term.part);
  const Part writes[] = {vectors().Whole(request.out), vectors().Whole(request.state)};
  parts_.data_path->Pass(
      reads, writes,
      StepTraffic(request.mix.size(), parts_.optimizer->state_vectors(), request.range.size),
      [&] { ApplyStep(*parts_.optimizer, *parts_.layout, request, vectors()); });
}

void NodeHost::CountPass(std::chrono::steady_clock::time_point begin,
                         std::chrono::steady_clock::time_point end, int64_t bytes) {
  arithmetic_.seconds += std::chrono::duration<double>(end - begin).count();
  arithmetic_.bytes += bytes;
  if (parts_.trace != nullptr) parts_.trace->Mix(begin, end);
}

SendId NodeHost::Send(Rank to, Tag tag, const Payload& payload, const Note& note) {
  const int64_t bytes = BytesOf(payload);
  if (parts_.trace != nullptr) parts_.trace->BeginSend(to, tag, bytes);
  bytes_sent_ += bytes;
  const SendId id{++last_send_.id};
  sending_.emplace(std::pair(to, tag), id);
  gate_.OnSend(id, to);
  absl::StatusOr<Outgoing> message = parts_.data_path->Send(payload);
  status_.Update(message.status());
  if (message.ok()) {
    message->note = note;
    status_.Update(parts_.transport->Send(to, tag, *std::move(message)));
  }
  return id;
}

SendId NodeHost::OnSent(Rank to, Tag tag) {
  const auto sent = sending_.extract(std::pair(to, tag));
  CHECK(!sent.empty()) << "a message left for rank " << to
                       << " that was not sent: " << Describe(tag);
  gate_.OnSent(sent.mapped());
  return sent.mapped();
}

void NodeHost::Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) {
  bytes_received_.Add(round, BytesOf(into));
  absl::StatusOr<Incoming> place = parts_.data_path->Post(from, tag, into);
  status_.Update(place.status());
  if (place.ok()) {
    place->round = round;
    place->credit = credit;
  }
  if (place.ok()) status_.Update(parts_.transport->Post(from, tag, *std::move(place)));
}

absl::Status NodeHost::status() const {
  absl::Status status = status_;
  status.Update(parts_.data_path->status());
  return status;
}

}  // namespace grapevine
