#include "cli/commands/topology_optimization.h"

#include <atomic>
#include <iostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/terminal/interruption.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/text_output.h"
#include "experiment/graph_search/graph_search.h"
#include "experiment/graph_search/graph_search_report.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"
#include "topology/files/graph_formats.h"
#include "topology/weights/matrix_writer.h"

namespace grapevine {
namespace {

constexpr const char* kGroup = "Optimization";

std::vector<const ConfigField*> ClusterFields() {
  std::vector<const ConfigField*> fields = FieldsInGroups({"Simulated cluster"});
  for (const char* name : {"model", "compute", "straggler", "window"}) {
    fields.push_back(&ConfigFieldNamed(name));
  }
  return fields;
}

Flag DeclareOptimize(Command command, const std::vector<Flag>& others) {
  Flag optimize = command.AddSwitch(
      {.names = "--optimize",
       .help = "find the graph and its weights, or the schedule of them, by which gossip reaches "
               "consensus in the least time on a simulated network (--network)",
       .group = kGroup});
  for (const Flag& other : others) optimize.Excludes(other);
  return optimize;
}

// Returns the format that the ending of the name stands for.
GraphFormat FormatOf(const std::string& path) {
  const std::string lower = absl::AsciiStrToLower(path);
  if (lower.ends_with(".graphml") || lower.ends_with(".xml")) return GraphFormat::kGraphml;
  if (lower.ends_with(".dot") || lower.ends_with(".gv")) return GraphFormat::kDot;
  return GraphFormat::kEdges;
}

// Searches, and says on standard error how far it has come: on a terminal all of it, elsewhere only
// what is better than all before.
absl::StatusOr<GraphSearchResult> SearchAloud(const Config& config, GraphSearchOptions options) {
  StatusLine line;
  options.on_progress = [&line](const std::string& done, bool better) {
    if (line.live() || better) line.Say(done);
  };
  return SearchGraph(config, options);
}

std::string WeightsPath(const std::string& path) { return path + ".mixing"; }

absl::Status CheckOut(const std::string& path, bool fixed) {
  if (path == "-") return UsageError("--out=-: two files are written; name the first of them");
  if (path.empty() || fixed || FormatOf(path) == GraphFormat::kEdges) return absl::OkStatus();
  return UsageError(absl::StrCat("--out=", path,
                                 ": this format has no schedules; give the file another ending "
                                 "(.edges), or look for a fixed graph alone (--fixed)"));
}

// Writes both files, each whole or not at all.
absl::Status Write(const Mixing& mixing, const std::string& path) {
  ASSIGN_OR_RETURN(auto graph, TextOutput::Open(path));
  ASSIGN_OR_RETURN(auto weights, TextOutput::Open(WeightsPath(path)));
  const auto to_graph = [&](std::string_view text) { return graph.Append(text); };
  const auto to_weights = [&](std::string_view text) { return weights.Append(text); };
  const GraphFormat format = FormatOf(path);
  RETURN_IF_ERROR(format == GraphFormat::kEdges
                      ? WriteSchedule(mixing.topology(), to_graph)
                      : WriteGraph(mixing.topology(), /*round=*/0, format, to_graph));
  RETURN_IF_ERROR(WriteMatrices(mixing, to_weights));
  RETURN_IF_ERROR(weights.Close());
  return graph.Close();
}

// Checks before the work that both files can be written.
absl::Status CheckBothWritable(const std::string& path) {
  RETURN_IF_ERROR(TextOutput::Open(path).status());
  return TextOutput::Open(WeightsPath(path)).status();
}

}  // namespace

TopologyOptimization::TopologyOptimization(Command command, const std::vector<Flag>& others)
    : optimize_(DeclareOptimize(command, others)),
      budget_(GraphSearchOptions().simulations),
      fixed_(command
                 .AddSwitch({.names = "--fixed",
                             .help = "a graph that is the same in all rounds, rather than a "
                                     "schedule",
                             .group = kGroup})
                 .Needs(optimize_)),
      cluster_(command, ClusterFields(), &optimize_) {
  command
      .AddFlag({.names = "--degree",
                .help = "the most replicas that a node may send in a round; 0: no limit",
                .placeholder = "D",
                .group = kGroup},
               &degree_)
      .Needs(optimize_);
  command
      .AddFlag({.names = "--budget",
                .help = "simulate at most so many graphs",
                .placeholder = "GRAPHS",
                .group = kGroup},
               &budget_)
      .Needs(optimize_);
}

std::shared_ptr<const TopologyOptimization> DeclareOptimization(Command command,
                                                                const std::vector<Flag>& others) {
  return std::make_shared<TopologyOptimization>(command, others);
}

absl::Status TopologyOptimization::Run(const OptimizedTopology& options) const {
  RETURN_IF_ERROR(CheckOut(options.out, fixed_.given()));
  ASSIGN_OR_RETURN(ResolvedConfig resolved, cluster_.Resolve());
  RETURN_IF_ERROR(ValidateForSimulation(resolved));
  Config& config = resolved.config;
  config.set_nodes(options.nodes);
  config.set_seed(options.seed);
  if (!options.out.empty()) RETURN_IF_ERROR(CheckBothWritable(options.out));
  std::atomic<bool> interrupted = false;
  std::atomic<Failure> told = Failure::kNone;
  ASSIGN_OR_RETURN(const auto interruption, Interruption::Watch([&](const absl::Status& why) {
                     told = FailureOf(why);
                     interrupted = true;
                   }));
  const absl::StatusOr<GraphSearchResult> result =
      SearchAloud(config, {.degree = degree_,
                           .fixed = fixed_.given(),
                           .simulations = budget_,
                           .interrupted = &interrupted});
  if (!result.ok()) {
    return told == Failure::kNone ? result.status() : WithFailure(result.status(), told);
  }
  if (!options.out.empty()) RETURN_IF_ERROR(Write(*result->best.mixing, options.out));
  const GraphSearchBasis basis{.nodes = options.nodes,
                               .model = config.model(),
                               .compute = config.has_compute() ? config.compute() : "0s",
                               .degree = degree_,
                               .fixed = fixed_.given()};
  std::cout << (options.json ? GraphSearchJson(*result, basis) : GraphSearchText(*result, basis));
  if (!options.json && !options.out.empty()) {
    std::cout << "to use it: -n " << options.nodes << " --topology=file:" << options.out
              << " --mixing=file:" << WeightsPath(options.out) << "\n";
  }
  return FlushStandardOutput();
}

}  // namespace grapevine
