// Which nodes of a run waited for which, according to the run's files.
//
// Safe from any thread; reads the run's files.
#ifndef GRAPEVINE_REPORT_PAGE_WAITS_H_
#define GRAPEVINE_REPORT_PAGE_WAITS_H_

#include <string>

#include "absl/status/statusor.h"
#include "report/run_reader.h"
#include "run/trace/trace_waits.h"

namespace grapevine {

struct Waits {
  WaitedSeconds seconds;
  std::string source;  // for the reader: which file says so, and how much of the run it covers
};

// Reads the waits of a simulated run from its statistics.json; else from the run's trace.json; if
// that does not exist, from the nodes' own metrics and the summary. kInput, with a sentence about
// the flag that records waits, if none of them has any; kInput, with the file and what is wrong, if
// one is broken.
absl::StatusOr<Waits> ReadWaits(const RecordedRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_WAITS_H_
