#include "report/page/node_work.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

NodeWorkTimes SumOf(Rank rank, const std::vector<NodeMetrics>& lines) {
  NodeWorkTimes times{.rank = rank};
  for (const NodeMetrics& line : lines) {
    times.gradient_s += line.gradient_s.value_or(0);
    times.mix_s += line.mix_s.value_or(0);
    times.wait_s += line.wait_s.value_or(0);
  }
  return times;
}

std::vector<NodeWorkTimes> Listed(const Statistics& statistics) {
  std::vector<NodeWorkTimes> nodes;
  for (const NodeStatistics& node : statistics.listed) {
    nodes.push_back({.rank = static_cast<Rank>(node.rank),
                     .gradient_s = node.gradient_s,
                     .mix_s = node.mix_s,
                     .wait_s = node.wait_s});
  }
  std::ranges::sort(nodes, {}, &NodeWorkTimes::rank);
  return nodes;
}

}  // namespace

absl::StatusOr<std::vector<NodeWorkTimes>> ReadNodeWork(const RecordedRun& run) {
  ASSIGN_OR_RETURN(const std::optional<RecordedStatistics> recorded, ReadStatisticsIfAny(run.path));
  if (recorded && !recorded->statistics.listed.empty()) return Listed(recorded->statistics);
  std::vector<NodeWorkTimes> nodes;
  for (Rank rank = 0; rank < std::min(run.config.nodes(), kMostNodeFiles); ++rank) {
    ASSIGN_OR_RETURN(const std::vector<NodeMetrics> lines, ReadNode(run, rank));
    if (!lines.empty()) nodes.push_back(SumOf(rank, lines));
  }
  if (nodes.empty()) {
    return InputError(absl::StrCat(run.path,
                                   " has no metrics of its nodes: they are on other machines, or "
                                   "the run has not measured anything yet"));
  }
  return nodes;
}

}  // namespace grapevine
