#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/registry.h"
#include "base/spec.h"
#include "base/status_macros.h"
#include "cli/commands/commands.h"
#include "cli/commands/topology_report.h"
#include "cli/terminal/text_output.h"
#include "run/config/flag_error.h"
#include "topology/files/graph_formats.h"
#include "topology/spectrum/spectrum.h"
#include "topology/topology.h"
#include "topology/topology_kind.h"
#include "topology/weights/mixing.h"
#include "topology/weights/mixing_kind.h"

namespace grapevine {
namespace {

struct TopologyOptions {
  std::string topologies = "ring";  // separated by commas
  std::string mixing = "metropolis";
  Rank nodes = 4;
  uint64_t seed = 1;
  Round round = 0;
  bool json = false;
  std::string format;  // empty: properties instead of the graph
  std::string out;
};

const std::vector<std::pair<std::string, GraphFormat>> kFormats = {
    {"edges", GraphFormat::kEdges}, {"graphml", GraphFormat::kGraphml}, {"dot", GraphFormat::kDot}};

absl::StatusOr<std::vector<std::shared_ptr<const Topology>>> MakeTopologies(
    const TopologyOptions& options) {
  const auto specs = SplitSpecList(options.topologies);
  if (!specs.ok()) return NamingFlag("--topology", options.topologies, specs.status());
  std::vector<std::shared_ptr<const Topology>> topologies;
  for (const std::string& spec : *specs) {
    auto topology = MakeTopology(spec, options.nodes, options.seed);
    if (!topology.ok()) return NamingFlag("--topology", spec, topology.status());
    topologies.push_back(*std::move(topology));
  }
  return topologies;
}

absl::StatusOr<TopologySummary> Inspect(const std::shared_ptr<const Topology>& topology,
                                        const TopologyOptions& options) {
  const auto mixing = MakeMixing(options.mixing, topology);
  if (!mixing.ok()) return NamingFlag("--mixing", options.mixing, mixing.status());
  return Summarize(**mixing, options.round);
}

absl::Status WriteProperties(const std::vector<std::shared_ptr<const Topology>>& topologies,
                             const TopologyOptions& options, const TextSink& sink) {
  std::vector<TopologySummary> summaries;
  for (const auto& topology : topologies) {
    ASSIGN_OR_RETURN(auto summary, Inspect(topology, options));
    summaries.push_back(std::move(summary));
  }
  if (!options.json) {
    return sink(summaries.size() == 1 ? TopologyText(summaries[0]) : TopologyTable(summaries));
  }
  // A list of topologies gives one object a line.
  for (size_t i = 0; i < topologies.size(); ++i) {
    absl::Status status = WriteTopologyJson(summaries[i], *topologies[i], sink);
    status.Update(sink("\n"));
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status WriteOneGraph(const std::vector<std::shared_ptr<const Topology>>& topologies,
                           const TopologyOptions& options, const TextSink& sink) {
  if (topologies.size() > 1) {
    return SpecError(options.topologies, "--format writes one graph, not a list");
  }
  for (const auto& [name, format] : kFormats) {
    if (name == options.format) return WriteGraph(*topologies[0], options.round, format, sink);
  }
  return SpecError("--format=" + options.format, "must be one of edges, graphml, dot");
}

absl::Status RunTopology(const TopologyOptions& options) {
  if (options.round < 0) {
    return SpecError(absl::StrCat("--round=", options.round), "rounds begin at 0");
  }
  ASSIGN_OR_RETURN(const auto topologies, MakeTopologies(options));
  ASSIGN_OR_RETURN(auto output, TextOutput::Open(options.out));
  const TextSink sink = [&](std::string_view text) { return output.Append(text); };
  const absl::Status status = options.format.empty() ? WriteProperties(topologies, options, sink)
                                                     : WriteOneGraph(topologies, options, sink);
  return status.ok() ? output.Close() : status;
}

}  // namespace

void AddTopologyCommand(CommandLine& line) {
  Command command =
      line.AddCommand("topology", "print the properties of a graph, or the graph itself");
  const auto options = std::make_shared<TopologyOptions>();
  command.AddFlag(
      {.names = "--topology",
       .help = absl::StrCat("communication graph, or several to compare, separated by commas: ",
                            JoinHelp(Topologies().Listings())),
       .placeholder = "SPEC"},
      &options->topologies);
  command.AddFlag({.names = "-n,--nodes", .help = "number of nodes", .placeholder = "N"},
                  &options->nodes);
  command.AddFlag({.names = "--mixing",
                   .help = absl::StrCat("mixing weights: ", JoinHelp(Mixings().Listings())),
                   .placeholder = "SPEC"},
                  &options->mixing);
  command.AddFlag({.names = "--seed", .help = "seed of everything random", .placeholder = "N"},
                  &options->seed);
  command.AddFlag(
      {.names = "--round", .help = "which round of a schedule to show", .placeholder = "R"},
      &options->round);
  const Flag json =
      command.AddSwitch({.names = "--json", .help = "print one JSON object for each topology"});
  command
      .AddFlag({.names = "--format",
                .help = "write the graph instead: edges, graphml or dot",
                .placeholder = "FORMAT"},
               &options->format)
      .Excludes(json);
  command.AddFlag({.names = "-o,--out",
                   .help = "write to FILE instead of standard output",
                   .placeholder = "FILE"},
                  &options->out);
  command.OnChosen([options, json] {
    options->json = json.given();
    return RunTopology(*options);
  });
}

}  // namespace grapevine
