#include "report/page/waits.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

constexpr char kRule[] =
    "over the whole run: all waiting of a step is attributed to the sender of its last message.";

bool IsRank(int64_t rank, Rank nodes) { return rank >= 0 && rank < nodes; }

// Adds a wait between two ranks below `nodes`; anything else counts nothing.
void Add(const PeerWait& wait, Rank nodes, WaitedSeconds* seconds) {
  if (!IsRank(wait.rank, nodes) || !IsRank(wait.peer, nodes) || !(wait.seconds > 0)) return;
  (*seconds)[{static_cast<Rank>(wait.rank), static_cast<Rank>(wait.peer)}] += wait.seconds;
}

Waits WaitsOf(const Statistics& statistics, Rank nodes) {
  Waits waits{.seconds = {},
              .source = absl::StrCat("From statistics.json, ", kRule,
                                     " It names at most four for each node.")};
  for (const NodeStatistics& node : statistics.listed) {
    for (const WaitedFor& wait : node.waited_for) {
      Add({node.rank, wait.rank, wait.seconds}, nodes, &waits.seconds);
    }
  }
  return waits;
}

// Adds the waits in the nodes' own lines; returns the ranks whose lines have no record of waits.
absl::StatusOr<std::set<int64_t>> AddOwn(const RecordedRun& run, WaitedSeconds* seconds) {
  std::set<int64_t> unknown;
  for (Rank rank = 0; rank < std::min(run.config.nodes(), kMostNodeFiles); ++rank) {
    ASSIGN_OR_RETURN(const std::vector<NodeMetrics> lines, ReadNode(run, rank));
    unknown.insert(rank);
    for (const NodeMetrics& line : lines) {
      if (!line.waited_for) continue;
      unknown.erase(rank);
      for (const WaitedFor& wait : *line.waited_for) {
        Add({rank, wait.rank, wait.seconds}, run.config.nodes(), seconds);
      }
    }
  }
  return unknown;
}

// Returns the waits of real nodes without a trace; absent if neither their lines nor the summary
// have any record of waits.
absl::StatusOr<std::optional<Waits>> WaitsOfNodes(const RecordedRun& run) {
  Waits waits;
  ASSIGN_OR_RETURN(const std::set<int64_t> unknown, AddOwn(run, &waits.seconds));
  ASSIGN_OR_RETURN(const std::optional<Summary> summary, ReadSummaryIfFinished(run.path));
  const bool has_longest = summary && summary->longest_waits;
  const Rank nodes = std::min(run.config.nodes(), kMostNodeFiles);
  if (static_cast<Rank>(unknown.size()) == nodes && !has_longest) return std::nullopt;
  waits.source = absl::StrCat("From the nodes' own metrics, ", kRule);
  if (unknown.empty()) return waits;
  absl::StrAppend(&waits.source, " ", unknown.size(), " of ", nodes, " nodes have theirs elsewhere",
                  has_longest ? ": of these, what is among the run's longest waits." : ".");
  if (!has_longest) return waits;
  for (const PeerWait& wait : *summary->longest_waits) {
    if (unknown.contains(wait.rank)) Add(wait, run.config.nodes(), &waits.seconds);
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
    ASSIGN_OR_RETURN(std::optional<Waits> waits, WaitsOfNodes(run));
    if (waits) return *std::move(waits);
    return InputError(absl::StrCat(run.path, " does not say who waited for whom: its nodes' ",
                                   "metrics are on other machines or of an earlier version, and ",
                                   "there is no trace (--trace=", trace, ")"));
  }
  ASSIGN_OR_RETURN(WaitedSeconds seconds, ReadTraceWaits(trace, run.config.nodes()));
  return Waits{.seconds = std::move(seconds),
               .source =
                   "From trace.json: the times in which a node had nothing to do until it "
                   "heard from the other one."};
}

}  // namespace grapevine
