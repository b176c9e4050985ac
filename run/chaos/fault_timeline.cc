#include "run/chaos/fault_timeline.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace grapevine {

namespace {

using Time = FaultTimeline::Time;

Time After(Time begin, Time duration) {
  return duration >= FaultTimeline::kNever - begin ? FaultTimeline::kNever : begin + duration;
}

// Whether the fault begins at `rank` with a round of that rank.
bool BeginsAt(const Fault& fault, Rank rank) {
  const bool named = std::ranges::find(fault.ranks, rank) != fault.ranks.end();
  switch (fault.kind) {
    case FaultKind::kPartition:
      return true;
    case FaultKind::kDrop:
      return named || fault.ranks.empty();
    case FaultKind::kCorrupt:
      return rank == fault.ranks[0];
    default:
      return named;
  }
}

Time Scaled(Time time, double factor) {
  const double scaled = static_cast<double>(time.count()) * factor;
  constexpr double kFar = 9e18;  // nanoseconds, below kNever
  return scaled < kFar ? Time(std::llround(scaled)) : FaultTimeline::kNever;
}

}  // namespace

FaultTimeline::FaultTimeline(FaultSchedule schedule) {
  for (Fault& fault : schedule) {
    if (!fault.round) timed_.push_back(planned_.size());
    planned_.push_back({.fault = std::move(fault), .begun = {}});
  }
  std::ranges::stable_sort(timed_, {}, [this](size_t i) { return planned_[i].fault.time; });
}

std::vector<FaultTimeline::Begun> FaultTimeline::OnRound(Rank rank, Round completed, Time now) {
  std::vector<Begun> begun;
  for (Planned& planned : planned_) {
    const Fault& fault = planned.fault;
    if (!fault.round || completed < *fault.round || !BeginsAt(fault, rank)) continue;
    if (planned.begun.emplace(rank, now).second) begun.push_back({&fault, rank});
  }
  return begun;
}

std::vector<FaultTimeline::Begun> FaultTimeline::TakeDue(Time now) {
  std::vector<Begun> due;
  while (NextDue() <= now) {
    const Fault& fault = planned_[timed_[taken_++]].fault;
    due.push_back({&fault, fault.ranks.empty() ? 0 : fault.ranks[0]});
  }
  return due;
}

Time FaultTimeline::NextDue() const {
  return taken_ < timed_.size() ? planned_[timed_[taken_]].fault.time : kNever;
}

std::optional<FaultTimeline::Window> FaultTimeline::WindowOf(const Planned& planned,
                                                             Rank rank) const {
  const Fault& fault = planned.fault;
  if (!fault.round) return Window{fault.time, After(fault.time, fault.duration)};
  const auto begun = planned.begun.find(rank);
  if (begun == planned.begun.end()) return std::nullopt;
  return Window{begun->second, After(begun->second, fault.duration)};
}

bool FaultTimeline::HoldsBetween(FaultKind kind, Rank from, Rank to, Time now) const {
  return std::ranges::any_of(planned_, [&](const Planned& planned) {
    if (planned.fault.kind != kind || !planned.fault.IsBetween(from, to)) return false;
    const std::optional<Window> window = WindowOf(planned, from);
    return window && now >= window->begin && now < window->end;
  });
}

double FaultTimeline::DropChance(Rank from, Rank to, Time now) const {
  double passes = 1;
  for (const Planned& planned : planned_) {
    if (planned.fault.kind != FaultKind::kDrop || !planned.fault.IsBetween(from, to)) continue;
    const std::optional<Window> window = WindowOf(planned, from);
    if (window && now >= window->begin && now < window->end) passes *= 1 - planned.fault.amount;
  }
  return 1 - passes;
}

double FaultTimeline::Slowness(Rank rank, Time now) const {
  double factor = 1;
  for (const Planned& planned : planned_) {
    if (planned.fault.kind != FaultKind::kSlow || planned.fault.ranks[0] != rank) continue;
    const std::optional<Window> window = WindowOf(planned, rank);
    if (window && now >= window->begin && now < window->end) factor *= planned.fault.amount;
  }
  return factor;
}

bool FaultTimeline::Stopped(Rank rank, Time now) const {
  return std::ranges::any_of(planned_, [&](const Planned& planned) {
    if (planned.fault.kind != FaultKind::kStop || planned.fault.ranks[0] != rank) return false;
    const std::optional<Window> window = WindowOf(planned, rank);
    return window && now >= window->begin && now < window->end;
  });
}

Time FaultTimeline::PassableAfter(Rank from, Rank to, Time time) const {
  for (const Planned& planned : planned_) {
    const Fault& fault = planned.fault;
    const auto end_at = [&](Rank rank) {
      const std::optional<Window> window = WindowOf(planned, rank);
      return window && time >= window->begin && time < window->end ? window->end : time;
    };
    Time end = time;
    if (fault.kind == FaultKind::kStop && (fault.ranks[0] == from || fault.ranks[0] == to)) {
      end = end_at(fault.ranks[0]);
    } else if (fault.kind == FaultKind::kCut || fault.kind == FaultKind::kPartition) {
      if (fault.IsBetween(from, to)) end = end_at(from);
    }
    if (end > time) return end;
  }
  return time;
}

Time FaultTimeline::Passable(Rank from, Rank to, Time time) const {
  while (time != kNever) {
    const Time next = PassableAfter(from, to, time);
    if (next == time) return time;
    time = next;
  }
  return kNever;
}

Time FaultTimeline::EndOfPassage(Rank from, Rank to, Time begin, Time work) const {
  Time at = Passable(from, to, begin);
  while (at != kNever) {
    const Time change = std::min(NextChange(from, at), NextChange(to, at));
    const Time end = After(at, work);
    if (end <= change) return end;
    work -= change - at;
    at = Passable(from, to, change);
  }
  return kNever;
}

Time FaultTimeline::NextChange(Rank rank, Time time) const {
  Time next = kNever;
  for (const Planned& planned : planned_) {
    const std::optional<Window> window = WindowOf(planned, rank);
    if (!window) continue;
    if (window->begin > time) next = std::min(next, window->begin);
    if (window->end > time) next = std::min(next, window->end);
  }
  return next;
}

Time FaultTimeline::EndOfWork(Rank rank, Time begin, Time work) const {
  Time at = begin;
  while (at != kNever) {
    const Time change = NextChange(rank, at);
    if (!Stopped(rank, at)) {
      const double slowness = Slowness(rank, at);
      const Time needed = slowness == 1 ? work : Scaled(work, slowness);
      const Time end = After(at, needed);
      if (end <= change) return end;
      work -= slowness == 1 ? change - at : Scaled(change - at, 1 / slowness);
    }
    at = change;
  }
  return kNever;
}

std::string ChaosPath(const std::string& run) { return absl::StrCat(run, "/chaos.jsonl"); }

// The text of a fault needs no escaping in JSON.
std::string ChaosLine(const FaultTimeline::Begun& begun, Round round,
                      std::chrono::nanoseconds time) {
  return absl::StrFormat(R"({"round":%d,"time_s":%.6f,"rank":%d,"fault":"%s"})", round,
                         std::chrono::duration<double>(time).count(), begun.rank,
                         FaultText(*begun.fault));
}

}  // namespace grapevine
