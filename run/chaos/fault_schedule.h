// What goes wrong on purpose in a run: what --chaos says, read, checked against the run, and the
// random faults drawn.
//
//   kill:rank=3:at=round:200              the process ends at once, as by kill -9
//   kill:rank=3:at=10s:back=5s            and another comes in its place, so much later
//   stop:rank=2:at=10s:for=5s             it is held, as by SIGSTOP and SIGCONT
//   slow:rank=2:factor=4:at=10s:for=5s    its gradients take longer
//   cut:edge=1-2:at=10s:for=5s            the edge's connections break, and no other is made
//   partition:ranks=0+1:at=10s:for=5s     these ranks and the others hear nothing of each other,
//                                         over connections that stay
//   drop:p=0.01:edge=1-2                  a message waits for a retransmission, with probability p
//   corrupt:edge=1-2:at=round:5           the next message from 1 to 2 has a wrong bit
//   disk-full:rank=2:at=10s               no file of the process grows any more
//   random:seed=7:rate=0.05               faults drawn from a seed (MakeFaultSchedule)
//
// `at` is a time since the training began, or how many rounds (steps, where nodes go through none
// together) the node has completed that the fault is about; of an edge, each end goes by its own.
// Without `for` a fault lasts to the end.
//
// Values and pure functions. The same texts and the same run give the same faults, simulated or
// real. Errors about a text are kUsage.
#ifndef GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_
#define GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

enum class FaultKind { kKill, kStop, kSlow, kCut, kPartition, kDrop, kCorrupt, kDiskFull };

// Which end a run, whatever follows; the others pass.
bool IsFatal(FaultKind kind);

struct Fault {
  static constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

  FaultKind kind = FaultKind::kKill;
  // The process that it is about; the two ends of an edge, of `corrupt` its sender first; one side
  // of a partition; none for `drop` on every edge.
  std::vector<Rank> ranks;
  std::optional<Round> round;                    // when it begins: then, or
  std::chrono::nanoseconds time{0};              // at this time
  std::chrono::nanoseconds duration = kForever;  // of `kill`, until another process comes
  double amount = 0;                             // the factor of `slow`, the probability of `drop`

  // Whether it concerns what `from` sends to `to`.
  bool IsBetween(Rank from, Rank to) const;
  // Whether it is about a process rather than the network.
  bool IsOfProcess() const;

  bool operator==(const Fault&) const = default;
};

// Of any kind but `random`. Errors begin with the text at fault.
absl::StatusOr<Fault> ParseFault(const Spec& spec);

// The text that reads back as the fault.
std::string FaultText(const Fault& fault);

// The run that faults are for.
struct ChaosExtent {
  Rank nodes = 1;
  // The ranks from here on compute no gradients.
  Rank workers = 1;
  // That a node has before it; faults after them would never happen.
  Round rounds = 0;
  // On which nodes exchange messages, smaller rank first, sorted; empty: on any.
  std::vector<std::pair<Rank, Rank>> edges;
  // Whether the others go on without a node that is lost, so that another may take its place.
  bool resilient = true;
};

using FaultSchedule = std::vector<Fault>;

// The most faults of a run.
inline constexpr size_t kMaxFaults = 10000;

// `texts`: each one or several faults, between commas, or file:PATH, of which each line is such a
// text, or empty, or begins with '#'. Errors name the entry, and its file and line; kInput for a
// file that cannot be read.
//
//   random:seed=7:rate=0.05[:kinds=stop+slow+cut+partition+drop][:for=1s]
//
// draws one fault with probability `rate` in each round: its kind among `kinds`, its nodes or edge,
// and how long it lasts, evenly up to `for`. It may name `kill` and `disk-full`, too; with
// back=TIME another process takes the place of one that was killed.
absl::StatusOr<FaultSchedule> MakeFaultSchedule(std::span<const std::string> texts,
                                                const ChaosExtent& extent);

// What is left of them in a run that goes on from there, after so many rounds and so much time:
// what is over is not repeated, and what ends a run is left out, for it has.
FaultSchedule LeftOf(FaultSchedule faults, Round completed, std::chrono::nanoseconds time);

// The same for a process that takes the place of one that is lost, in a run that has gone on: only
// what has begun is left out.
FaultSchedule LeftForNewcomer(FaultSchedule faults, Round completed, std::chrono::nanoseconds time);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_
