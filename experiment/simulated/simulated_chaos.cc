#include "experiment/simulated/simulated_chaos.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "run/chaos/fault_timeline.h"
#include "run/config/config_field.h"
#include "sim/network/faulty_network.h"

namespace grapevine {
namespace {

using std::chrono::nanoseconds;

// The restart delay of LaunchPlanOptions.
constexpr nanoseconds kRestartDelay = std::chrono::seconds(1);

// The times of gradients that faults hold up.
class HeldUpTimes final : public ComputeTime {
 public:
  HeldUpTimes(std::unique_ptr<const ComputeTime> compute, const FaultTimeline* faults)
      : compute_(std::move(compute)), faults_(faults) {}

  int64_t Gradient(Rank rank, Round round) const override {
    return compute_->Gradient(rank, round);
  }
  int64_t GradientFrom(Rank rank, Round round, int64_t begin) const override {
    const nanoseconds work(compute_->GradientFrom(rank, round, begin));
    const nanoseconds end = faults_->EndOfWork(rank, nanoseconds(begin), work);
    return std::min(end == FaultTimeline::kNever ? kLongestGradient : end.count() - begin,
                    kLongestGradient);
  }

 private:
  const std::unique_ptr<const ComputeTime> compute_;
  const FaultTimeline* const faults_;
};

// Returns the error of real nodes; OK if the fault does not end the run.
absl::Status VerdictOn(const Fault& fault, nanoseconds timeout) {
  const std::string cause = absl::StrCat(" (--chaos=", FaultText(fault), ")");
  const auto lost = [&cause](const std::string& what) {
    return WithFailure(absl::AbortedError(absl::StrCat(what, cause)), Failure::kPeerLost);
  };
  switch (fault.kind) {
    case FaultKind::kKill:
      return lost(absl::StrCat("rank ", fault.ranks[0], " was killed by signal 9, Killed"));
    case FaultKind::kCorrupt:
      return lost(absl::StrCat("rank ", fault.ranks[0], " sent rank ", fault.ranks[1],
                               " a message with a wrong CRC-32C"));
    case FaultKind::kDiskFull:
      return OutputError(absl::StrCat("the disk of rank ", fault.ranks[0], " is full", cause));
    case FaultKind::kStop:
    case FaultKind::kCut:
    case FaultKind::kPartition:
      if (fault.duration < timeout) return absl::OkStatus();
      return lost(absl::StrCat("rank ", fault.ranks[0], " is silent for longer than ",
                               FormatDuration(timeout)));
    case FaultKind::kSlow:
    case FaultKind::kDrop:
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

// Returns whether each of the nodes that a fault parts begins it at its own end, when the node
// comes to the round.
bool HasEnds(const Fault& fault) {
  return fault.kind == FaultKind::kCut || fault.kind == FaultKind::kPartition;
}

// Returns how long it takes until the others know of a loss.
nanoseconds Detection(const Fault& fault, nanoseconds timeout) {
  const bool told = fault.kind == FaultKind::kKill || fault.kind == FaultKind::kCorrupt;
  return told ? nanoseconds(0) : timeout;
}

}  // namespace

SimulatedChaos::SimulatedChaos(const Experiment& experiment, FaultSchedule faults,
                               std::unique_ptr<LineFile> record)
    : peer_timeout_(ResolvedDuration(experiment.config().peer_timeout())),
      stop_timeout_(
          std::min(peer_timeout_, ResolvedDuration(experiment.config().min_peer_timeout()))),
      seed_(experiment.config().seed()),
      shrinks_(experiment.shrinks()),
      workers_(experiment.workers()),
      needs_rank_zero_(!experiment.has_rounds() || workers_ < experiment.config().nodes()),
      record_(std::move(record)),
      timeline_(std::move(faults)) {}

absl::StatusOr<std::unique_ptr<SimulatedChaos>> SimulatedChaos::Make(
    const Experiment& experiment, const std::string& run_directory, Round begin,
    Nanoseconds begin_time) {
  FaultSchedule faults = experiment.faults();
  if (begin > 0) faults = LeftOf(std::move(faults), begin, nanoseconds(begin_time));
  ASSIGN_OR_RETURN(std::unique_ptr<LineFile> record, LineFile::Open(ChaosPath(run_directory)));
  return std::unique_ptr<SimulatedChaos>(
      new SimulatedChaos(experiment, std::move(faults), std::move(record)));
}

std::unique_ptr<NetworkModel> SimulatedChaos::Network(std::unique_ptr<NetworkModel> network,
                                                      AlarmClock* clock) const {
  return std::make_unique<FaultyNetwork>(std::move(network), &timeline_, seed_, clock);
}

std::unique_ptr<const ComputeTime> SimulatedChaos::Compute(
    std::unique_ptr<const ComputeTime> compute) const {
  return std::make_unique<HeldUpTimes>(std::move(compute), &timeline_);
}

absl::Status SimulatedChaos::TakeDue(Nanoseconds now) {
  for (const auto& begun : timeline_.TakeDue(nanoseconds(now))) {
    RETURN_IF_ERROR(Happen(begun, simulation_->round(begun.rank), begun.fault->time.count()));
  }
  return absl::OkStatus();
}

absl::Status SimulatedChaos::OnWake(Nanoseconds now) {
  RETURN_IF_ERROR(TakeDue(now));
  WakeForNext();
  return absl::OkStatus();
}

void SimulatedChaos::WakeForNext() {
  const nanoseconds next = timeline_.NextDue();
  if (next != FaultTimeline::kNever) simulation_->WakeAt(next.count());
}

absl::Status SimulatedChaos::OnBoundary(Rank rank, Round completed, Nanoseconds now, Vec) {
  RETURN_IF_ERROR(TakeDue(now));
  for (const auto& begun : timeline_.OnRound(rank, completed, nanoseconds(now))) {
    if (IsFirst(begun)) RETURN_IF_ERROR(Happen(begun, completed, now));
  }
  return absl::OkStatus();
}

bool SimulatedChaos::IsFirst(const FaultTimeline::Begun& begun) const {
  const Fault& fault = *begun.fault;
  if (HasEnds(fault)) {
    return std::ranges::none_of(lasting_,
                                [&](const auto& lasting) { return lasting.first == &fault; });
  }
  return begun.rank == (fault.ranks.empty() ? 0 : fault.ranks[0]);
}

absl::Status SimulatedChaos::Begin(Simulation* simulation, Round round) {
  simulation_ = simulation;
  for (Rank rank = 0; rank < simulation->nodes(); ++rank) {
    RETURN_IF_ERROR(OnBoundary(rank, round, simulation->now(), Vec()));
  }
  WakeForNext();
  return absl::OkStatus();
}

Rank SimulatedChaos::OfTwo(const Fault& fault) const {
  const bool stays = fault.ranks[0] == 0 || fault.ranks[0] >= workers_;
  return fault.ranks[stays ? 1 : 0];
}

std::vector<Rank> SimulatedChaos::CutOff(const Fault& partition) const {
  Rank role = 0;
  while (role + 1 < simulation_->nodes() && !simulation_->alive(role)) ++role;
  const bool named = std::ranges::binary_search(partition.ranks, role);
  std::vector<Rank> others;
  for (Rank rank = 0; rank < simulation_->nodes(); ++rank) {
    if (std::ranges::binary_search(partition.ranks, rank) != named) others.push_back(rank);
  }
  return others;
}

std::vector<Rank> SimulatedChaos::LostBy(const Fault& fault) const {
  const bool passes = fault.duration < TimeoutOf(fault);
  switch (fault.kind) {
    case FaultKind::kKill:
      return {fault.ranks[0]};
    case FaultKind::kCorrupt:
      return {OfTwo(fault)};
    case FaultKind::kStop:
      return passes ? std::vector<Rank>() : std::vector<Rank>{fault.ranks[0]};
    case FaultKind::kCut:
      return passes ? std::vector<Rank>() : std::vector<Rank>{OfTwo(fault)};
    case FaultKind::kPartition:
      return passes ? std::vector<Rank>() : CutOff(fault);
    default:
      return {};
  }
}

absl::Status SimulatedChaos::Happen(const FaultTimeline::Begun& begun, Round round,
                                    Nanoseconds now) {
  const Fault& fault = *begun.fault;
  if (HasEnds(fault)) {
    const bool ever = fault.duration == Fault::kForever;
    lasting_.emplace_back(&fault, ever ? FaultTimeline::kNever : nanoseconds(now) + fault.duration);
  }
  if (IsAboutTheDead(fault)) return absl::OkStatus();
  RETURN_IF_ERROR(record_->Append(ChaosLine(begun, round, nanoseconds(now))));
  if (IsOfAnIdleEdge(fault)) return absl::OkStatus();
  const std::vector<Rank> lost = shrinks_ ? LostBy(fault) : std::vector<Rank>();
  // A server's part of the model is nowhere else, and neither are the steps that real nodes tell
  // rank 0.
  const bool ends = std::ranges::any_of(
      lost, [this](Rank rank) { return rank >= workers_ || (rank == 0 && needs_rank_zero_); });
  if (lost.empty() || ends) return VerdictOn(fault, TimeoutOf(fault));
  for (const Rank rank : lost) {
    if (simulation_->alive(rank)) Lose(rank, fault, now);
  }
  if (fault.kind == FaultKind::kKill && fault.duration != Fault::kForever) {
    returns_[lost[0]] = fault.duration;
    simulation_->ReturnAt(lost[0], now + fault.duration.count());
  }
  return absl::OkStatus();
}

void SimulatedChaos::Lose(Rank rank, const Fault& fault, Nanoseconds now) {
  simulation_->KillAt(rank, now, Detection(fault, TimeoutOf(fault)).count());
  killed_.insert(rank);
  returns_.erase(rank);
}

// A node that comes back to where nothing passes is lost again.
absl::Status SimulatedChaos::OnReturn(Rank rank, Round, Nanoseconds now) {
  for (const auto& [fault, until] : lasting_) {
    if (IsOfAnIdleEdge(*fault)) continue;
    const std::vector<Rank> lost = LostBy(*fault);
    if (nanoseconds(now) >= until || std::ranges::find(lost, rank) == lost.end()) continue;
    Lose(rank, *fault, now);
    break;
  }
  return absl::OkStatus();
}

// A node that came back and could not join tries again, as under `train`.
absl::Status SimulatedChaos::OnDeath(Rank rank, Nanoseconds now) {
  if (killed_.erase(rank) > 0) return absl::OkStatus();
  const auto returns = returns_.find(rank);
  if (returns == returns_.end()) return absl::OkStatus();
  const nanoseconds delay = std::max(returns->second, kRestartDelay);
  simulation_->ReturnAt(rank, now + delay.count());
  return absl::OkStatus();
}

bool SimulatedChaos::IsAboutTheDead(const Fault& fault) const {
  if (fault.kind == FaultKind::kPartition) return false;
  return std::ranges::any_of(fault.ranks, [&](Rank rank) { return !simulation_->alive(rank); });
}

bool SimulatedChaos::IsOfAnIdleEdge(const Fault& fault) const {
  if (fault.kind != FaultKind::kCut && fault.kind != FaultKind::kCorrupt) return false;
  const bool served = workers_ < simulation_->nodes();
  return served && (fault.ranks[0] < workers_) == (fault.ranks[1] < workers_);
}

absl::Status SimulatedChaos::Verdict(const absl::Status& how) {
  if (how.ok()) return how;
  // Takes all faults with a time, as everything may stand still because of one of them.
  for (const auto& begun : timeline_.TakeDue(FaultTimeline::kNever - nanoseconds(1))) {
    const absl::Status verdict = VerdictOn(*begun.fault, TimeoutOf(*begun.fault));
    if (!verdict.ok() && FailureOf(how) == Failure::kOther) return verdict;
  }
  return how;
}

}  // namespace grapevine
