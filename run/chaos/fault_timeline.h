// The times at which the faults of a run hold. A fault of a time holds from that time on, a fault
// of a round once its node has completed the round. Simulated and real nodes ask here what a fault
// does; the faults that have begun are noted in chaos.jsonl.
//
// Times count from the start of the training. Thread-compatible.
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
    const Fault* fault;  // valid as long as the timeline
    Rank rank;
  };
  // Notes that `rank` has completed `completed` rounds, 0 when it starts. Returns the faults that
  // begin with them.
  std::vector<Begun> OnRound(Rank rank, Round completed, Time now);
  // Returns the faults of a time that have begun by `now` and were not returned before. Their
  // `rank` is the first that the fault names, or 0 if it names none.
  std::vector<Begun> TakeDue(Time now);
  // Returns when TakeDue must be called next; kNever if no more faults of a time will begin.
  Time NextDue() const;

  // Whether a fault of this kind holds between two nodes, on the way from `from` to `to`.
  bool HoldsBetween(FaultKind kind, Rank from, Rank to, Time now) const;
  // Returns the probability that a message from `from` to `to` waits for its retransmission.
  double DropChance(Rank from, Rank to, Time now) const;
  // Returns the factor by which the gradients of `rank` take longer.
  double Slowness(Rank rank, Time now) const;

  // Returns the first time from `time` on at which bytes pass from `from` to `to`: no cut and no
  // partition holds, and neither node is stopped. kNever if there is no such time.
  Time Passable(Rank from, Rank to, Time time) const;
  // Returns when bytes that take `work` to pass from `from` to `to` have passed. They begin at
  // `begin` and may be obstructed on the way. kNever if they never pass.
  Time EndOfPassage(Rank from, Rank to, Time begin, Time work) const;
  // Returns when `rank` has completed a gradient of `work` that it begins at `begin`, while it may
  // be stopped and slow. kNever if it never completes the gradient.
  Time EndOfWork(Rank rank, Time begin, Time work) const;

 private:
  struct Planned {
    Fault fault;
    // For a fault of a round: the nodes at which the fault has begun, and when.
    std::map<Rank, Time> begun;
  };
  struct Window {
    Time begin, end;
  };

  // Returns when the fault holds at `rank`; absent while that is not known yet.
  std::optional<Window> WindowOf(const Planned& planned, Rank rank) const;
  // Returns the end of a fault that lets nothing pass at `time`; `time` if there is none.
  Time PassableAfter(Rank from, Rank to, Time time) const;
  // Returns the next time after `time` at which any fault begins or ends at `rank`.
  Time NextChange(Rank rank, Time time) const;
  bool Stopped(Rank rank, Time now) const;

  std::vector<Planned> planned_;
  std::vector<size_t> timed_;  // indices into `planned_` of the faults of a time, by time
  size_t taken_ = 0;
};

// Returns the path `run`/chaos.jsonl, the faults that have begun, one object a line, for pictures
// and for people.
std::string ChaosPath(const std::string& run);

// Returns the line of chaos.jsonl about a fault that begins at a node, in the node's round `round`:
//
//   {"round": 200, "time_s": 3.25, "rank": 3, "fault": "kill:rank=3:at=round:200"}
std::string ChaosLine(const FaultTimeline::Begun& begun, Round round,
                      std::chrono::nanoseconds time);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHAOS_FAULT_TIMELINE_H_
