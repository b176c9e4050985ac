// When the faults of a run hold: those of a time from then on, those of a round once their node has
// completed it. What a fault does, simulated or real, is asked here; what has begun is noted in
// chaos.jsonl.
//
// Times are since the training began. Thread-compatible.
#ifndef GRAPEVINE_RUN_CHAOS_FAULT_TIMELINE_H_
#define GRAPEVINE_RUN_CHAOS_FAULT_TIMELINE_H_

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "run/chaos/fault_schedule.h"

namespace grapevine {

class FaultTimeline {
 public:
  using Time = std::chrono::nanoseconds;
  static constexpr Time kNever = Time::max();

  explicit FaultTimeline(FaultSchedule schedule);

  // A fault that begins at a node: its process, or the end of an edge that sends.
  struct Begun {
    const Fault* fault;  // as long as the timeline
    Rank rank;
  };
  // `rank` has completed so many rounds, 0 when it starts; returns what begins with them.
  std::vector<Begun> OnRound(Rank rank, Round completed, Time now);
  // What has begun by its time since the last call; `rank` is the first that it names, 0 where it
  // names none.
  std::vector<Begun> TakeDue(Time now);
  // When to call TakeDue next; kNever if there is nothing to come.
  Time NextDue() const;

  // Whether a fault of this kind holds between two nodes, on the way from `from` to `to`.
  bool HoldsBetween(FaultKind kind, Rank from, Rank to, Time now) const;
  // The probability that a message from `from` to `to` waits for its retransmission.
  double DropChance(Rank from, Rank to, Time now) const;
  // How many times as long the gradients of `rank` take.
  double Slowness(Rank rank, Time now) const;

  // The first time from `time` on at which bytes pass from `from` to `to`: no cut, no partition,
  // and neither is stopped. kNever if there is none.
  Time Passable(Rank from, Rank to, Time time) const;
  // When bytes that take `work` to pass from `from` to `to` have passed, from `begin` on, while
  // they may be obstructed. kNever if they never have.
  Time EndOfPassage(Rank from, Rank to, Time begin, Time work) const;
  // When `rank` is through with a gradient of `work` that it begins at `begin`, while it may be
  // stopped and slow. kNever if it is never.
  Time EndOfWork(Rank rank, Time begin, Time work) const;

 private:
  struct Planned {
    Fault fault;
    // Where it begins with a round: the nodes that have come so far, and when.
    std::map<Rank, Time> begun;
  };
  struct Window {
    Time begin, end;
  };

  // When it holds at `rank`; empty if that is not known yet.
  std::optional<Window> WindowOf(const Planned& planned, Rank rank) const;
  // The end of a fault that lets nothing pass at `time`; `time` if there is none.
  Time PassableAfter(Rank from, Rank to, Time time) const;
  // The next time after `time` at which anything begins or ends at `rank`.
  Time NextChange(Rank rank, Time time) const;
  bool Stopped(Rank rank, Time now) const;

  std::vector<Planned> planned_;
  std::vector<size_t> timed_;  // of `planned_`: by time, those that TakeDue returns
  size_t taken_ = 0;
};

// `run`/chaos.jsonl: the faults that have begun, one object a line, for pictures and for people.
std::string ChaosPath(const std::string& run);

// Its line about one that begins at a node, in a round of its own:
//
//   {"round": 200, "time_s": 3.25, "rank": 3, "fault": "kill:rank=3:at=round:200"}
std::string ChaosLine(const FaultTimeline::Begun& begun, Round round,
                      std::chrono::nanoseconds time);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHAOS_FAULT_TIMELINE_H_
