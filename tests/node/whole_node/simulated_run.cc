#include "tests/node/whole_node/simulated_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "random/keyed_random.h"

namespace grapevine::testing {
namespace {

// Processes start within it.
constexpr uint64_t kStartSpread = 300000000;

bool IsOf(const Fault& fault, Fault::Kind kind, Rank rank) {
  return fault.kind == kind && fault.a == rank;
}

}  // namespace

SimulatedRun::SimulatedRun(RunPlan plan, std::function<void(const std::string&)> log)
    : plan_(std::move(plan)),
      network_({.latency = plan_.latency, .jitter = plan_.jitter}, plan_.seed, &time_),
      store_(plan_.seed, &time_, plan_.peer_timeout / 2),
      world_{.plan = &plan_, .network = &network_, .store = &store_, .processes = {}, .log = {}} {
  if (log) {
    world_.log = [this, log = std::move(log)](const std::string& line) {
      log(absl::StrFormat("%10.6f  %s", std::chrono::duration<double>(elapsed()).count(), line));
    };
  }
  KeyedRandom random(plan_.seed, Purpose::kPlacement);
  for (Rank rank = 0; rank < plan_.nodes; ++rank) {
    processes_.push_back(std::make_unique<Process>(rank, &time_));
    world_.processes.push_back(processes_.back().get());
  }
  for (Rank rank = 0; rank < plan_.nodes; ++rank) {
    nodes_.push_back(std::make_unique<SimulatedNode>(&world_, rank));
    const bool comes = std::ranges::none_of(plan_.faults, [rank](const Fault& fault) {
      return IsOf(fault, Fault::Kind::kNeverComes, rank);
    });
    if (!comes) {
      processes_[rank]->End();
      continue;
    }
    processes_[rank]->After(std::chrono::nanoseconds(random.Below(kStartSpread)),
                            [node = nodes_.back().get()] { node->Start(); });
  }
  for (const Fault& fault : plan_.faults) {
    time_.At(SteadyTime(fault.at), [this, fault] { Happen(fault); });
  }
}

SimulatedRun::~SimulatedRun() = default;

void SimulatedRun::Happen(const Fault& fault) {
  if (world_.log && IsTimed(fault)) world_.log("FAULT: " + Describe(fault));
  Process& process = *processes_[fault.a];
  switch (fault.kind) {
    case Fault::Kind::kKill:
      return network_.EndProcess(&process, "connection reset by peer");
    case Fault::Kind::kPause:
      process.Pause();
      return time_.After(fault.lasts, [&process] { process.Resume(); });
    case Fault::Kind::kReset:
      return network_.Reset(fault.a, fault.b);
    case Fault::Kind::kCut:
      return network_.Cut(fault.a, fault.b, SimulatedTransport::kService,
                          time_.now() + fault.lasts);
    case Fault::Kind::kCutControl:
      return network_.Cut(0, fault.a, SimulatedCoordinator::kService, time_.now() + fault.lasts);
    case Fault::Kind::kPartition:
      return network_.Partition(fault.a, fault.b, time_.now() + fault.lasts);
    case Fault::Kind::kLostHost:
      for (Rank rank = 0; rank < plan_.nodes; ++rank) {
        if (rank != fault.a) network_.Partition(fault.a, rank, SteadyTime::max());
      }
      return process.End();
    case Fault::Kind::kStoreAway:
      return store_.CutOff(fault.a, time_.now() + fault.lasts);
    case Fault::Kind::kStoreDown:
      for (Rank rank = 0; rank < plan_.nodes; ++rank) {
        store_.CutOff(rank, time_.now() + fault.lasts);
      }
      return;
    case Fault::Kind::kLeasesLost:
      return store_.LoseLeases();
    case Fault::Kind::kInterrupt:
      return process.Do([node = nodes_[fault.a].get()] {
        node->Interrupt(WithFailure(absl::CancelledError("terminated"), Failure::kTerminated));
      });
    case Fault::Kind::kTerminate:
      return process.Do([node = nodes_[fault.a].get()] {
        node->EndWithCheckpoint(
            WithFailure(absl::CancelledError("terminated"), Failure::kTerminated));
      });
    default:
      return;  // from the start
  }
}

void SimulatedRun::Return(Rank rank) {
  if (world_.log) world_.log(absl::StrCat("another process of rank ", rank));
  const auto lives = static_cast<int>(std::ranges::count_if(
      old_processes_, [rank](const auto& process) { return process->rank() == rank; }));
  old_processes_.push_back(
      std::exchange(processes_[rank], std::make_unique<Process>(rank, &time_)));
  world_.processes[rank] = processes_[rank].get();
  old_nodes_.push_back(
      std::exchange(nodes_[rank], std::make_unique<SimulatedNode>(&world_, rank, lives + 1)));
  processes_[rank]->Do([node = nodes_[rank].get()] { node->Start(); });
}

std::vector<const AveragedModel*> SimulatedRun::Averages() const {
  std::vector<const AveragedModel*> averages;
  for (const auto* nodes : {&old_nodes_, &nodes_}) {
    for (const auto& node : *nodes) {
      for (const AveragedModel& average : node->averages()) averages.push_back(&average);
    }
  }
  return averages;
}

bool SimulatedRun::died() const {
  const auto died = [](const auto& node) { return !node->ending() || !node->ending()->ok(); };
  return std::ranges::any_of(old_nodes_, died) || std::ranges::any_of(nodes_, died);
}

bool SimulatedRun::survives(Rank rank) const {
  return nodes_[rank]->ending().has_value() || processes_[rank]->alive();
}

bool SimulatedRun::AllEnded() const {
  return std::ranges::none_of(processes_, [](const auto& process) { return process->alive(); });
}

void SimulatedRun::RunUntil(std::chrono::nanoseconds time) {
  bool reached = false;
  time_.At(SteadyTime(time), [&reached] { reached = true; });
  while (!reached) time_.Step();
}

bool SimulatedRun::RunUntil(const std::function<bool()>& reached) {
  while (!reached()) {
    if (!time_.Step()) return false;
  }
  return true;
}

absl::Status SimulatedRun::Run(std::chrono::nanoseconds deadline) {
  while (!AllEnded() && elapsed() < deadline && time_.Step()) {
  }
  std::string left;
  for (Rank rank = 0; rank < plan_.nodes; ++rank) {
    if (!processes_[rank]->alive()) continue;
    absl::StrAppend(&left, left.empty() ? "" : "; ", "rank ", rank, ": ", nodes_[rank]->State());
  }
  if (left.empty()) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrFormat(
      "not ended after %.1f s: %s", std::chrono::duration<double>(elapsed()).count(), left));
}

}  // namespace grapevine::testing
