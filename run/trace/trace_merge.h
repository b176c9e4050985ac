// The nodes' traces of a real run as one.
#ifndef GRAPEVINE_RUN_TRACE_TRACE_MERGE_H_
#define GRAPEVINE_RUN_TRACE_TRACE_MERGE_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "run/trace/chrome_trace.h"

namespace grapevine {

// Adds what files[rank] holds (run/trace/node_trace.h), one node at a time. Nodes of rank
// 0's machine share its clock and are placed exactly; those of others are aligned on
// the common start, which all nodes leave within a message's time of each other.
// Returns the ranks whose file does not exist: it may lie on another machine's disk.
// Errors: a broken file, or another rank's (kInput).
absl::StatusOr<std::vector<Rank>> MergeTraces(std::span<const std::string> files,
                                              ChromeTrace* trace);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TRACE_TRACE_MERGE_H_
