#include "experiment/simulated/simulated_checkpoints.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/core/experiment_results.h"
#include "experiment/core/other_nodes.h"
#include "model/problem/averaged_model.h"
#include "run/checkpoint/checkpoint_directory.h"

namespace grapevine {

void SimulatedCheckpoints::OnReceived(Rank rank, const Received& event) {
  for (auto& [round, open] : open_) {
    const auto saver = open.savers.find(rank);
    if (saver != open.savers.end()) saver->second->OnReceived(event);
  }
}

void SimulatedCheckpoints::OnLost(Rank rank, const Lost& event) {
  for (auto& [round, open] : open_) {
    const auto saver = open.savers.find(rank);
    if (saver != open.savers.end()) saver->second->OnLost(event);
  }
}

absl::Status SimulatedCheckpoints::OnCut(const CutTimes& cut, Vec model) {
  if (parts_.simulation->stopped()) return absl::OkStatus();  // no run continues from here
  if (!parts_.experiment->has_rounds()) {
    Renew(cut);
  } else if (Saves(cut)) {
    Open& open = open_[cut.completed];
    if (open.path.empty()) RETURN_IF_ERROR(Begin(cut.completed, &open));
    RETURN_IF_ERROR(Save(cut, model, &open));
  }
  std::vector<Round> waiting;
  for (const auto& [round, open] : open_) {
    if (open.savers.contains(cut.rank)) waiting.push_back(round);
  }
  for (const Round round : waiting) RETURN_IF_ERROR(WriteIfComplete(cut.rank, round));
  return absl::OkStatus();
}

void SimulatedCheckpoints::Renew(const CutTimes& cut) {
  cut_[cut.rank] = cut.round;
  const CutTimes nominal{
      .rank = cut.rank, .round = cut.round, .completed = cut.round, .now = cut.now};
  const bool may = open_.empty() && !due_ && !renewing_ && cut.round > furthest_;
  if (may && cut.round < parts_.experiment->rounds() && Saves(nominal)) due_ = cut.round;
  if (!due_) return;
  for (Rank rank = 0; rank < parts_.simulation->nodes(); ++rank) {
    if (parts_.simulation->alive(rank) && cut_[rank] < *due_) return;
  }
  renewing_ = true;
  parts_.simulation->Renew(*std::exchange(due_, std::nullopt));
}

absl::Status SimulatedCheckpoints::OnCheckpoint(const CutTimes& cut, Vec model) {
  renewing_ = false;
  if (parts_.simulation->stopped()) return absl::OkStatus();
  Open& open = open_[cut.round];
  if (open.path.empty()) RETURN_IF_ERROR(Begin(cut.round, &open));
  RETURN_IF_ERROR(Save(cut, model, &open));
  return WriteIfComplete(cut.rank, cut.round);
}

bool SimulatedCheckpoints::Saves(const CutTimes& cut) {
  if (cut.completed > furthest_) Decide(cut);
  return called_.contains(cut.completed) || (saved_ && saved_(cut.completed));
}

void SimulatedCheckpoints::Decide(const CutTimes& cut) {
  furthest_ = cut.completed;
  if (cut.completed >= parts_.experiment->rounds()) return;  // a run cannot continue from its end
  const std::optional<std::chrono::nanoseconds>& time = parts_.every.time;
  if (time && cut.now - last_ >= time->count()) {
    last_ = cut.now;
    called_.insert(cut.completed);
  }
  if (parts_.terminated == nullptr || !*parts_.terminated || end_) return;
  end_ = cut.completed;
  called_.insert(cut.completed);
}

absl::Status SimulatedCheckpoints::Finish() {
  if (!parts_.simulation->stopped()) RETURN_IF_ERROR(WriteWhatIsComplete());
  for (const auto& [round, open] : open_) RETURN_IF_ERROR(RemoveCheckpoint(open.path));
  return absl::OkStatus();
}

absl::Status SimulatedCheckpoints::WriteWhatIsComplete() {
  std::vector<std::pair<Rank, Round>> waiting;
  for (const auto& [round, open] : open_) {
    for (const auto& [rank, saver] : open.savers) waiting.emplace_back(rank, round);
  }
  for (const auto& [rank, round] : waiting) RETURN_IF_ERROR(WriteIfComplete(rank, round));
  return absl::OkStatus();
}

absl::Status SimulatedCheckpoints::Begin(Round round, Open* open) {
  ASSIGN_OR_RETURN(open->path, BeginCheckpoint(parts_.run_directory, round));
  open->manifest = parts_.manifest;
  open->manifest.set_round(round);
  return absl::OkStatus();
}

absl::Status SimulatedCheckpoints::Save(const CutTimes& cut, Vec model, Open* open) {
  auto saver = std::make_unique<StateSaver>(cut.completed, model, [this](Vec vector) {
    const SharedVector now = parts_.vectors->At(vector);
    const SharedVector copy = NewSharedVector(now.size);
    std::ranges::copy(now.span(), copy.data.get());
    return copy;
  });
  RETURN_IF_ERROR(parts_.simulation->VisitState(cut.rank, *saver));
  open->savers[cut.rank] = std::move(saver);
  if (model) open->models[cut.rank] = parts_.vectors->At(model);
  CheckpointManifest& manifest = open->manifest;
  manifest.set_time_ns(std::max<int64_t>(manifest.time_ns(), cut.now));
  CheckpointPart& part = open->parts[cut.rank];
  if (cut.completed != cut.round) part.set_steps(cut.completed);
  part.set_bytes_sent(parts_.bytes_sent(cut.rank));
  // What a node has received in a step that was given up belongs to no other step.
  const Round received = cut.completed + (parts_.experiment->has_rounds() ? 0 : 1);
  part.set_bytes_received(parts_.bytes_received(cut.rank, received));
  return absl::OkStatus();
}

absl::Status SimulatedCheckpoints::WriteIfComplete(Rank rank, Round round) {
  Open& open = open_.at(round);
  const auto saver = open.savers.find(rank);
  if (!saver->second->complete()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const CheckpointPart written,
                   WriteNodePart(open.path, rank, saver->second->state()));
  open.savers.erase(saver);
  open.parts.at(rank).MergeFrom(written);
  open.written.insert(rank);
  return CompleteIfAll(round);
}

Rank SimulatedCheckpoints::Savers(Round round) const {
  Rank savers = 0;
  for (Rank rank = 0; rank < parts_.simulation->nodes(); ++rank) {
    const auto came = begun_.find(rank);
    const bool begun = came == begun_.end() || came->second < round;
    savers += begun && parts_.simulation->alive(rank);
  }
  return savers;
}

absl::Status SimulatedCheckpoints::OnReturn(Rank rank, Round from, Nanoseconds) {
  begun_[rank] = from;
  return absl::OkStatus();
}

absl::Status SimulatedCheckpoints::CompleteIfAll(Round round) {
  if (static_cast<Rank>(open_.at(round).written.size()) < Savers(round)) return absl::OkStatus();
  const auto complete = open_.extract(round);
  called_.erase(round);
  return Complete(complete.mapped());
}

absl::Status SimulatedCheckpoints::OnDeath(Rank rank, Nanoseconds) {
  changed_ = true;
  std::vector<Round> rounds;
  for (auto& [round, open] : open_) {
    open.savers.erase(rank);
    open.models.erase(rank);
    open.parts.erase(rank);
    open.written.erase(rank);
    if (!open.written.empty()) rounds.push_back(round);
  }
  for (const Round round : rounds) RETURN_IF_ERROR(CompleteIfAll(round));
  return absl::OkStatus();
}

absl::Status SimulatedCheckpoints::Complete(const Open& open) {
  CheckpointManifest manifest = open.manifest;
  for (const auto& [rank, part] : open.parts) {
    *manifest.add_nodes() = part;
    if (changed_) manifest.add_members(rank);
  }
  parts_.describe(&manifest);
  RETURN_IF_ERROR(WriteModel(open, &manifest));
  RETURN_IF_ERROR(parts_.write_metrics());
  RETURN_IF_ERROR(CompleteCheckpoint(parts_.run_directory, open.path, manifest));
  if (!end_ || manifest.round() < *end_) return absl::OkStatus();
  return WithFailure(absl::CancelledError(absl::StrCat("the checkpoint of round ", manifest.round(),
                                                       " is complete; terminated (SIGTERM)")),
                     Failure::kTerminated);
}

absl::Status SimulatedCheckpoints::WriteModel(const Open& open,
                                              CheckpointManifest* manifest) const {
  ASSIGN_OR_RETURN(const AveragedModel average,
                   ModelThatCounts(*manifest, *parts_.experiment,
                                   [&open](Rank rank) { return open.models.at(rank); }));
  RETURN_IF_ERROR(WriteAveragedModel(*parts_.experiment, average, open.path));
  ASSIGN_OR_RETURN(*manifest->mutable_model(), LookAtPart(ModelPartPath(open.path)));
  return absl::OkStatus();
}

}  // namespace grapevine
