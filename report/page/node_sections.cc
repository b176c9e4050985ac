// Sections about the nodes of one run: the graph, waiting, time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "algorithm/algorithm.h"
#include "base/status.h"
#include "base/units.h"
#include "report/curve.h"
#include "report/page/model_distances.h"
#include "report/page/node_work.h"
#include "report/page/sections.h"
#include "report/page/waits.h"
#include "run/records/run_directory.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// A page could not show more circles apart.
constexpr int kMostNodesDrawn = 64;
constexpr int kMostNodesInMatrix = 32;
constexpr size_t kMostPairsListed = 20;
// An edge is slow if nodes waited for it at least this fraction of the time of the worst edge.
constexpr double kSlow = 0.5;

using Edge = std::pair<Rank, Rank>;

std::string RankName(Rank rank) { return absl::StrCat("rank ", rank); }

// Returns every edge that some round has; an undirected edge goes from the lower rank to the
// higher.
std::set<Edge> EdgesOf(const Topology& graph) {
  std::set<Edge> edges;
  std::vector<Rank> neighbours;
  for (Round round = 0; round < graph.shown_rounds(); ++round) {
    for (Rank rank = 0; rank < graph.size(); ++rank) {
      graph.OutNeighbours(rank, round, &neighbours);
      for (const Rank other : neighbours) {
        edges.insert(graph.directed() || rank < other ? Edge{rank, other} : Edge{other, rank});
      }
    }
  }
  return edges;
}

// Returns the seconds that nodes waited for what comes over `edge`, in both directions if it has
// both.
double WaitedOver(const Edge& edge, bool directed, const Waits& waits) {
  const auto seconds = [&waits](Rank by, Rank of) {
    const auto found = waits.seconds.find({by, of});
    return found == waits.seconds.end() ? 0 : found->second;
  };
  const double forward = seconds(edge.second, edge.first);
  return directed ? forward : forward + seconds(edge.first, edge.second);
}

PageBlock EdgeBlocks(const Topology& graph, const std::optional<Waits>& waits) {
  const std::set<Edge> edges = EdgesOf(graph);
  std::map<Edge, double> waited;
  double worst = 0;
  for (const Edge& edge : edges) {
    if (!waits) break;
    waited[edge] = WaitedOver(edge, graph.directed(), *waits);
    worst = std::max(worst, waited[edge]);
  }
  PageBlock blocks = PageBlock::array();
  for (const Edge& edge : edges) {
    PageBlock block = {{"from", edge.first}, {"to", edge.second}};
    if (waits) {
      block["waited_s"] = SixDigits(waited[edge]);
      block["slow"] = worst > 0 && waited[edge] >= kSlow * worst;
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

// Returns the lost nodes of a run without a summary, which goes on or has failed, each with the
// round that it measured last. The metrics say only how many nodes are lost; the nodes that are
// farthest behind are taken for these. Empty unless the metrics of all nodes are here.
std::map<Rank, Round> LostSoFar(const RecordedRun& run) {
  const int64_t nodes = run.config.nodes();
  const int64_t living = run.metrics.empty() ? nodes : run.metrics.back().living.value_or(nodes);
  std::vector<std::pair<Round, Rank>> last;
  for (Rank rank = 0; living < nodes && rank < nodes; ++rank) {
    const absl::StatusOr<std::vector<NodeMetrics>> lines = ReadNode(run, rank);
    if (!lines.ok() || lines->empty()) return {};
    if (lines->back().round < run.metrics.back().round)
      last.emplace_back(lines->back().round, rank);
  }
  std::ranges::sort(last);
  last.resize(std::min(last.size(), static_cast<size_t>(nodes - living)));
  std::map<Rank, Round> lost;
  for (const auto& [round, rank] : last) lost[rank] = round;
  return lost;
}

// Returns the nodes that were gone at the end, each with the round from which on it was gone.
std::map<Rank, Round> LostFrom(const RecordedRun& run) {
  const absl::StatusOr<Summary> summary = ReadSummary(run.path);
  if (!summary.ok()) return LostSoFar(run);
  std::map<Rank, Round> lost;
  if (!summary->membership) return lost;
  for (const MembershipChange& change : *summary->membership) {
    for (const int64_t rank : change.joined) lost.erase(static_cast<Rank>(rank));
    for (const int64_t rank : change.lost) lost[static_cast<Rank>(rank)] = change.round;
  }
  return lost;
}

// Returns the distances by rank, of the nodes that are not lost.
absl::StatusOr<std::map<Rank, double>> DistancesOf(const RecordedRun& run,
                                                   const std::map<Rank, Round>& lost) {
  std::vector<Rank> ranks;
  std::vector<std::string> models;
  for (Rank rank = 0; rank < run.config.nodes(); ++rank) {
    if (lost.contains(rank)) continue;
    ranks.push_back(rank);
    models.push_back(ModelPath(NodeDirectory(run.path, rank)));
  }
  if (models.empty()) return InputError("no node was there at the end");
  ASSIGN_OR_RETURN(const std::vector<double> distances, ModelDistances(models));
  std::map<Rank, double> by_rank;
  for (size_t i = 0; i < ranks.size(); ++i) by_rank[ranks[i]] = distances[i];
  return by_rank;
}

PageBlock NodeBlocks(Rank nodes, const absl::StatusOr<std::map<Rank, double>>& distances,
                     const std::map<Rank, Round>& lost) {
  PageBlock blocks = PageBlock::array();
  for (Rank rank = 0; rank < nodes; ++rank) {
    PageBlock node = PageBlock::object();
    if (const auto found = lost.find(rank); found != lost.end()) {
      node["lost"] = found->second;
    } else if (distances.ok()) {
      node["distance"] = SixDigits(distances->at(rank));
    }
    blocks.push_back(std::move(node));
  }
  return blocks;
}

std::string Reason(const absl::Status& status) { return std::string(status.message()); }

// Returns the waits, the longest first, then by rank.
std::vector<std::pair<Edge, double>> LongestOf(const Waits& waits) {
  std::vector<std::pair<Edge, double>> pairs(waits.seconds.begin(), waits.seconds.end());
  std::ranges::stable_sort(pairs, std::greater(), &std::pair<Edge, double>::second);
  return pairs;
}

PageBlock MatrixOf(const Waits& waits, Rank nodes) {
  std::vector<std::string> names;
  PageBlock values = PageBlock::array();
  for (Rank by = 0; by < nodes; ++by) {
    names.push_back(absl::StrCat(by));
    PageBlock row = PageBlock::array();
    for (Rank of = 0; of < nodes; ++of) {
      const auto found = waits.seconds.find({by, of});
      row.push_back(found == waits.seconds.end() ? 0 : SixDigits(found->second));
    }
    values.push_back(std::move(row));
  }
  return {{"kind", "matrix"}, {"title", "Seconds that each rank (row) waited for each other one"},
          {"rows", names},    {"columns", names},
          {"unit", "s"},      {"values", std::move(values)}};
}

PageBlock LongestWaits(const Waits& waits) {
  Table table{{"who waited", "for whom", "time", "of all waiting"}, {}};
  double all = 0;
  for (const auto& [pair, seconds] : waits.seconds) all += seconds;
  for (const auto& [pair, seconds] : LongestOf(waits)) {
    if (table.rows.size() == kMostPairsListed) break;
    table.rows.push_back({RankName(pair.first), RankName(pair.second), HumanDuration(seconds),
                          absl::StrFormat("%.1f %%", 100 * seconds / all)});
  }
  return TableBlock(waits.seconds.size() > kMostPairsListed
                        ? absl::StrCat("The longest ", kMostPairsListed, " waits")
                        : "Waits, the longest first",
                    table);
}

PageBlock TimesOf(const std::vector<NodeWorkTimes>& nodes) {
  PageBlock rows = PageBlock::array();
  for (const NodeWorkTimes& node : nodes) {
    rows.push_back(
        {{"name", RankName(node.rank)},
         {"values", {SixDigits(node.gradient_s), SixDigits(node.mix_s), SixDigits(node.wait_s)}}});
  }
  return {{"kind", "shares"},
          {"title", "What each node did with its time"},
          {"unit", "s"},
          {"parts", {"gradient", "mixing and stepping", "waiting"}},
          {"rows", std::move(rows)}};
}

std::string Percent(double fraction) { return absl::StrFormat("%.1f %%", 100 * fraction); }

void AddInterfaces(const std::string& name, const std::optional<Spread>& spread, Table* table) {
  if (!spread) return;
  table->rows.push_back({name, Percent(spread->min), Percent(spread->mean), Percent(spread->max)});
}

void AddSimulated(const RecordedStatistics& recorded, PageBlocks* blocks) {
  const StepTimes& steps = recorded.step_times;
  blocks->push_back(TableBlock(
      "Time of a step",
      {{"mean", "median", "95 % within", "longest", "steps"},
       {{HumanDuration(steps.mean_s), HumanDuration(steps.median_s), HumanDuration(steps.p95_s),
         HumanDuration(steps.max_s), absl::StrCat(steps.count)}}}));
  Table interfaces{{"interfaces", "least busy", "mean", "busiest"}, {}};
  AddInterfaces("sending", recorded.statistics.egress_utilization, &interfaces);
  AddInterfaces("receiving", recorded.statistics.ingress_utilization, &interfaces);
  if (!interfaces.rows.empty()) {
    blocks->push_back(TableBlock("How busy the nodes' interfaces were", interfaces));
  }
  Table links{{"link", "sent", "busy"}, {}};
  for (const LinkStatistics& link : recorded.statistics.busiest_links) {
    links.rows.push_back(
        {link.name, HumanSize(static_cast<double>(link.bytes)), Percent(link.utilization)});
  }
  if (!links.rows.empty()) blocks->push_back(TableBlock("The busiest links", links));
}

}  // namespace

absl::StatusOr<PageBlocks> GraphBlocks(const RecordedRun& run) {
  const Config& config = run.config;
  if (IsCentralized(config.algorithm())) {
    return InputError(absl::StrCat("The graph plays no part in ", config.algorithm(),
                                   ", which averages over all nodes."));
  }
  if (config.nodes() > kMostNodesDrawn) {
    return InputError(absl::StrCat("A graph of ", config.nodes(), " nodes is not drawn; at most ",
                                   kMostNodesDrawn, " are."));
  }
  ASSIGN_OR_RETURN(const auto graph,
                   MakeTopology(config.topology(), config.nodes(), config.seed()));
  const std::map<Rank, Round> lost = LostFrom(run);
  const absl::StatusOr<std::map<Rank, double>> distances = DistancesOf(run, lost);
  const absl::StatusOr<Waits> waits = ReadWaits(run);
  PageBlocks blocks = {
      {{"kind", "graph"},
       {"title", absl::StrCat("The graph: ", graph->name())},
       {"directed", graph->directed()},
       {"nodes", NodeBlocks(config.nodes(), distances, lost)},
       {"edges", EdgeBlocks(*graph, waits.ok() ? std::optional(*waits) : std::nullopt)}}};
  if (graph->period() == 0) {
    blocks.push_back(TextBlock(absl::StrCat("The edges change at random: those of the first ",
                                            graph->shown_rounds(), " rounds are drawn.")));
  }
  if (!distances.ok()) {
    blocks.push_back(
        TextBlock(absl::StrCat("Nodes have no colour, as not every node's last model is known: ",
                               Reason(distances.status()), ".")));
  }
  if (!waits.ok()) {
    blocks.push_back(TextBlock(absl::StrCat("No edge is marked: ", Reason(waits.status()), ".")));
  }
  return blocks;
}

absl::StatusOr<PageBlocks> WaitingBlocks(const RecordedRun& run) {
  ASSIGN_OR_RETURN(const Waits waits, ReadWaits(run));
  if (waits.seconds.empty())
    return PageBlocks{TextBlock("Nobody waited for anybody."), TextBlock(waits.source)};
  PageBlocks blocks;
  if (run.config.nodes() <= kMostNodesInMatrix) {
    blocks.push_back(MatrixOf(waits, run.config.nodes()));
  }
  blocks.push_back(LongestWaits(waits));
  blocks.push_back(TextBlock(waits.source));
  return blocks;
}

absl::StatusOr<PageBlocks> UtilizationBlocks(const RecordedRun& run) {
  ASSIGN_OR_RETURN(const std::vector<NodeWorkTimes> nodes, ReadNodeWork(run));
  PageBlocks blocks = {TimesOf(nodes)};
  ASSIGN_OR_RETURN(const std::optional<RecordedStatistics> recorded, ReadStatisticsIfAny(run.path));
  if (recorded) AddSimulated(*recorded, &blocks);
  return blocks;
}

}  // namespace grapevine
