#include "report/page/waits.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

bool IsRank(int64_t rank, Rank nodes) { return rank >= 0 && rank < nodes; }

Waits WaitsOf(const Statistics& statistics, Rank nodes) {
  Waits waits{.seconds = {},
              .source =
                  "From statistics.json, over the whole run: all waiting of a step is attributed "
                  "to the sender of its last message. It names at most four for each node."};
  for (const NodeStatistics& node : statistics.listed) {
    for (const WaitedFor& wait : node.waited_for) {
      if (!IsRank(node.rank, nodes) || !IsRank(wait.rank, nodes) || wait.seconds <= 0) continue;
      waits.seconds[{static_cast<Rank>(node.rank), static_cast<Rank>(wait.rank)}] += wait.seconds;
    }
  }
  return waits;
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

absl::StatusOr<Waits> ReadWaits(const RecordedRun& run) {
  ASSIGN_OR_RETURN(const std::optional<RecordedStatistics> recorded, ReadStatisticsIfAny(run.path));
  if (recorded) return WaitsOf(recorded->statistics, run.config.nodes());
  const std::string trace = TracePath(run.path);
  if (!Exists(trace)) {
    return InputError(absl::StrCat(
        run.path, " does not say who waited for whom: a real run says it in a trace (--trace=",
        trace, "), a simulated one in its statistics.json"));
  }
  ASSIGN_OR_RETURN(WaitedSeconds seconds, ReadTraceWaits(trace, run.config.nodes()));
  return Waits{.seconds = std::move(seconds),
               .source =
                   "From trace.json: the times in which a node had nothing to do until it "
                   "heard from the other one."};
}

}  // namespace grapevine
