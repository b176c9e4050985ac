// The section about the progress of a run that goes on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/ids.h"
#include "base/status.h"
#include "base/units.h"
#include "model/problem/problem.h"
#include "report/page/sections.h"
#include "report/table.h"

namespace grapevine {
namespace {

// The most rows of the table; more would not be read.
constexpr size_t kMostNodesListed = 64;

std::string Short(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.4g", *value) : "";
}

// Returns the part of the run that is done, by its rounds or else its epochs; absent if programs
// decide when the run ends.
std::optional<double> ShareDone(const Config& config, const RunMetrics& latest) {
  if (config.rounds() == kOpenEndedRounds) return std::nullopt;
  const double done = config.has_rounds() ? static_cast<double>(latest.round) / config.rounds()
                                          : latest.epoch / config.epochs();
  return std::clamp(done, 0.0, 1.0);
}

std::string OfRounds(const Config& config, const RunMetrics& latest) {
  const bool known = config.has_rounds() && config.rounds() != kOpenEndedRounds;
  return known ? absl::StrCat(latest.round, " of ", config.rounds()) : absl::StrCat(latest.round);
}

std::string OfEpochs(const Config& config, const RunMetrics& latest) {
  const std::string epoch = absl::StrFormat("%.4g", latest.epoch);
  return config.has_rounds() ? epoch : absl::StrCat(epoch, " of ", config.epochs());
}

// Assumes that each round that is left takes as long as the rounds so far took on average.
std::string Remaining(double done, double elapsed_s) {
  if (!(done > 0)) return "";
  return absl::StrCat("about ", HumanDuration(elapsed_s * (1 - done) / done));
}

PageBlock ProgressOf(const RecordedRun& run) {
  const Config& config = run.config;
  const RunMetrics& latest = run.metrics.back();
  const RunMetrics outcome = Outcome(run, std::nullopt);
  const std::optional<double> done = ShareDone(config, latest);
  const int64_t living = latest.living.value_or(config.nodes());
  return TableBlock(
      "The run so far",
      {{"rounds", "epochs", "done", "elapsed", "remaining", "samples/s", "training loss",
        "test accuracy", "nodes"},
       {{OfRounds(config, latest), OfEpochs(config, latest),
         done ? absl::StrFormat("%.1f %%", 100 * *done) : "", HumanDuration(latest.time_s),
         done ? Remaining(*done, latest.time_s) : "", Short(outcome.samples_per_s),
         Short(outcome.train_loss),
         outcome.test_accuracy ? absl::StrFormat("%.2f %%", 100 * *outcome.test_accuracy) : "",
         absl::StrCat(living, " of ", config.nodes())}}});
}

// The last line of a node's metrics.
struct NodeStanding {
  Rank rank;
  NodeMetrics last;
};

// Returns the last lines of the nodes whose files are here; the node that is farthest behind comes
// first.
absl::StatusOr<std::vector<NodeStanding>> ReadStandings(const RecordedRun& run) {
  std::vector<NodeStanding> nodes;
  for (Rank rank = 0; rank < std::min(run.config.nodes(), kMostNodeFiles); ++rank) {
    ASSIGN_OR_RETURN(std::vector<NodeMetrics> lines, ReadNode(run, rank));
    if (!lines.empty()) nodes.push_back({rank, std::move(lines.back())});
  }
  std::ranges::stable_sort(nodes, {}, [](const NodeStanding& node) { return node.last.round; });
  return nodes;
}

PageBlock NodesOf(const std::vector<NodeStanding>& nodes) {
  Table table{{"rank", "rounds", "measured after", "training loss", "samples/s"}, {}};
  for (const auto& [rank, last] : nodes) {
    if (table.rows.size() == kMostNodesListed) break;
    table.rows.push_back({absl::StrCat(rank), absl::StrCat(last.round), HumanDuration(last.time_s),
                          Short(last.train_loss), Short(last.samples_per_s)});
  }
  return TableBlock(nodes.size() > kMostNodesListed
                        ? absl::StrCat("The ", kMostNodesListed, " nodes that are farthest behind")
                        : "The nodes, who is farthest behind first",
                    table);
}

}  // namespace

absl::StatusOr<PageBlocks> ProgressBlocks(const RecordedRun& run) {
  PageBlocks blocks = {ProgressOf(run)};
  ASSIGN_OR_RETURN(const std::vector<NodeStanding> nodes, ReadStandings(run));
  if (!nodes.empty()) blocks.push_back(NodesOf(nodes));
  return blocks;
}

}  // namespace grapevine
