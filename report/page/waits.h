// Who waited for whom in a run, as its files have it.
//
// Safe from any thread; the run's files are read.
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

// Of a simulated run from its statistics.json; else from its trace.json; where there is none, from
// the nodes' own metrics and the summary. kInput, with a sentence about the flag that records it,
// where none says it; with the file and what is wrong, where one is broken.
absl::StatusOr<Waits> ReadWaits(const RecordedRun& run);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_WAITS_H_
