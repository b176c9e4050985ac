// The faults that are injected into a run. Reads the texts of --chaos, checks them against the run,
// and draws the random faults.
//
//   kill:rank=3:at=round:200              the process ends at once, as by kill -9
//   kill:rank=3:at=10s:back=5s            the process ends, and another takes its place 5 s later
//   stop:rank=2:at=10s:for=5s             the process is held, as by SIGSTOP and SIGCONT
//   slow:rank=2:factor=4:at=10s:for=5s    the node's gradients take longer
//   cut:edge=1-2:at=10s:for=5s            the edge's connections break, and no other is made
//   partition:ranks=0+1:at=10s:for=5s     these ranks and the others hear nothing of each other,
//                                         over connections that stay
//   drop:p=0.01:edge=1-2                  a message waits for a retransmission, with probability p
//   corrupt:edge=1-2:at=round:5           the next message from 1 to 2 has a wrong bit
//   disk-full:rank=2:at=10s               no file of the process grows any more
//   random:seed=7:rate=0.05               faults drawn from a seed (MakeFaultSchedule)
//
// `at` is a time since the training began, or the number of rounds that the node of the fault has
// completed (steps, where nodes do not go through rounds together). For a fault of an edge, each
// end counts its own rounds. Without `for` a fault lasts to the end.
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

// Whether faults of this kind end a run, whatever follows. Faults of the other kinds pass.
bool IsFatal(FaultKind kind);

struct Fault {
  static constexpr std::chrono::nanoseconds kForever = std::chrono::nanoseconds::max();

  FaultKind kind = FaultKind::kKill;
  // The ranks of the fault: its process; the two ends of an edge, for `corrupt` the sender first;
  // one side of a partition; empty for `drop` on every edge.
  std::vector<Rank> ranks;
  std::optional<Round> round;                    // rounds completed when the fault begins
  std::chrono::nanoseconds time{0};              // time at which the fault begins, without `round`
  std::chrono::nanoseconds duration = kForever;  // for `kill`, until another process comes
  double amount = 0;                             // the factor of `slow`, the probability of `drop`

  // Whether the fault concerns messages that `from` sends to `to`.
  bool IsBetween(Rank from, Rank to) const;
  // Whether the fault is about a process rather than the network.
  bool IsOfProcess() const;

  bool operator==(const Fault&) const = default;
};

// Parses a fault of any kind except `random`. Errors begin with the text at fault.
absl::StatusOr<Fault> ParseFault(const Spec& spec);

// Returns a text that ParseFault reads back as the fault.
std::string FaultText(const Fault& fault);

// The properties of the run that limit its faults.
struct ChaosExtent {
  Rank nodes = 1;
  // The number of nodes that compute gradients. Ranks from here on compute none.
  Rank workers = 1;
  // The number of rounds of a node. Faults after them would never happen.
  Round rounds = 0;
  // The edges on which nodes exchange messages, smaller rank first, sorted. Empty: any two nodes
  // exchange messages.
  std::vector<std::pair<Rank, Rank>> edges;
  // Whether the other nodes go on without a node that is lost, so that another process may take its
  // place.
  bool resilient = true;
};

using FaultSchedule = std::vector<Fault>;

// The largest number of faults in a run.
inline constexpr size_t kMaxFaults = 10000;

// Makes the faults of `texts`. A text is one fault, several faults separated by commas, or
// file:PATH. Each line of that file is such a text, or empty, or begins with '#'. Errors name the
// entry and, if it is in a file, the file and the line. A file that cannot be read is kInput.
//
//   random:seed=7:rate=0.05[:kinds=stop+slow+cut+partition+drop][:for=1s]
//
// draws one fault with probability `rate` in each round: its kind among `kinds`, its nodes or edge,
// and how long it lasts, evenly up to `for`. `kinds` may name `kill` and `disk-full`, too; with
// back=TIME another process takes the place of one that was killed.
absl::StatusOr<FaultSchedule> MakeFaultSchedule(std::span<const std::string> texts,
                                                const ChaosExtent& extent);

// Returns the faults that are left in a run that goes on after `completed` rounds, at `time`.
// Faults that are over are not repeated. Faults that end a run are left out, because they have
// ended it.
FaultSchedule LeftOf(FaultSchedule faults, Round completed, std::chrono::nanoseconds time);

// Returns the faults that are left for a process that takes the place of a lost one, in a run that
// has gone on; see LeftOf. Faults that end a run are left out only if they have begun.
FaultSchedule LeftForNewcomer(FaultSchedule faults, Round completed, std::chrono::nanoseconds time);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHAOS_FAULT_SCHEDULE_H_
