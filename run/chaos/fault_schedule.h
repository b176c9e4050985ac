// All faults of a run: what --chaos says, read, checked against the run, and the random ones drawn.
//
// Pure functions. The same texts and the same run give the same faults, simulated or real.
#ifndef GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_
#define GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "run/chaos/fault.h"

namespace grapevine {

// The run that faults are for.
struct ChaosExtent {
  Rank nodes = 1;
  // The ranks from here on compute no gradients.
  Rank workers = 1;
  // That a node has before it; faults after them would never happen.
  Round rounds = 0;
  // On which nodes exchange messages, smaller rank first, sorted; empty: on any.
  std::vector<std::pair<Rank, Rank>> edges;
};

using FaultSchedule = std::vector<Fault>;

// The most faults of a run.
inline constexpr size_t kMaxFaults = 10000;

// `texts`: each one or several faults, between commas, or file:PATH, of which each line is such a
// text, or empty, or begins with '#'. Errors are kUsage and name the entry, and its file and line;
// kInput for a file that cannot be read.
//
//   random:seed=7:rate=0.05[:kinds=stop+slow+cut+partition+drop][:for=1s]
//
// draws one fault with probability `rate` in each round: its kind among `kinds`, its nodes or edge,
// and how long it lasts, evenly up to `for`. It may name `kill` and `disk-full`, too.
absl::StatusOr<FaultSchedule> MakeFaultSchedule(std::span<const std::string> texts,
                                                const ChaosExtent& extent);

// What is left of them in a run that goes on from there, after so many rounds and so much time:
// what is over is not repeated, and what ends a run is left out, for it has.
FaultSchedule LeftOf(FaultSchedule faults, Round completed, std::chrono::nanoseconds time);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_
