// The waits of nodes for each other, read from a trace that RunTrace has written (run_trace.h).
//
// Safe from any thread.
#ifndef GRAPEVINE_RUN_TRACE_TRACE_WAITS_H_
#define GRAPEVINE_RUN_TRACE_TRACE_WAITS_H_

#include <map>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/ids.h"

namespace grapevine {

// Seconds, above 0, by the rank that waited and the rank that it waited for.
using WaitedSeconds = std::map<std::pair<Rank, Rank>, double>;

// Reads the waits in one pass over the file and keeps none of its text: a trace may have gigabytes.
// Safe on hostile input: ignores what is no wait between two of `nodes` ranks. Errors are kInput
// and name the path.
absl::StatusOr<WaitedSeconds> ReadTraceWaits(const std::string& path, Rank nodes);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TRACE_TRACE_WAITS_H_
