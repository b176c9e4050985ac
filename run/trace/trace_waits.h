// Who waited for whom, according to a trace as RunTrace writes it (run_trace.h).
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

// Seconds, above 0, by who waited and for whom.
using WaitedSeconds = std::map<std::pair<Rank, Rank>, double>;

// Reads the file in one pass and keeps none of it: a trace may have gigabytes. Safe on hostile
// input: what is no wait between two of `nodes` ranks counts nothing. Errors are kInput and name
// the path.
absl::StatusOr<WaitedSeconds> ReadTraceWaits(const std::string& path, Rank nodes);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TRACE_TRACE_WAITS_H_
