// Who waited for whom, of a trace for browsers (run/trace/trace_waits.h).
#include "run/trace/trace_waits.h"

#include <glog/logging.h>

#include <cmath>

#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(trace_waits) {
  constexpr Rank kNodes = 4;
  const fuzz::InputFile file(data, size);
  const auto waits = ReadTraceWaits(file.path(), kNodes);
  if (!waits.ok()) return fuzz::RequireClass(waits.status(), Failure::kInput);
  for (const auto& [pair, seconds] : *waits) {
    for (const Rank rank : {pair.first, pair.second}) CHECK(rank >= 0 && rank < kNodes);
    CHECK(std::isfinite(seconds) && seconds > 0) << seconds;
  }
}

}  // namespace
}  // namespace grapevine
