// What a node has recorded of its rounds (run/trace/run_trace.h).
#include <glog/logging.h>

#include "run/trace/run_trace.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(node_trace) {
  constexpr Rank kNodes = 4;
  const fuzz::InputFile file(data, size);
  const auto trace = ReadNodeTrace(file.path(), kNodes);
  if (!trace.ok()) return fuzz::RequireClass(trace.status(), Failure::kInput);
  CHECK(trace->rank >= 0 && trace->rank < kNodes);
  CHECK_LE(trace->records.size() * sizeof(TraceRecord), size);
  for (const TraceRecord& record : trace->records) {
    CHECK(record.peer >= 0 && record.peer < kNodes);
    CHECK_LE(record.begin, record.end);
  }
}

}  // namespace
}  // namespace grapevine
