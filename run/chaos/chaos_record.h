// chaos.jsonl: the faults of a run that have begun, one object a line, for pictures and for people.
//
//   {"round": 200, "time_s": 3.25, "rank": 3, "fault": "kill:rank=3:at=round:200"}
//
// Pure functions.
#ifndef GRAPEVINE_RUN_CHAOS_CHAOS_RECORD_H_
#define GRAPEVINE_RUN_CHAOS_CHAOS_RECORD_H_

#include <chrono>
#include <string>

#include "base/ids.h"
#include "run/chaos/fault_timeline.h"

namespace grapevine {

// `run`/chaos.jsonl.
std::string ChaosPath(const std::string& run);

// At a node, in a round of its own.
std::string ChaosLine(const FaultTimeline::Begun& begun, Round round,
                      std::chrono::nanoseconds time);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHAOS_CHAOS_RECORD_H_
