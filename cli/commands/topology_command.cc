#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/registry.h"
#include "base/spec.h"
#include "base/status.h"
#include "cli/commands/commands.h"
#include "cli/commands/topology_optimization.h"
#include "cli/terminal/text_output.h"
#include "experiment/core/spec_help.h"
#include "run/config/config_field.h"
#include "run/config/resolved_config.h"
#include "topology/files/graph_formats.h"
#include "topology/spectrum/spectrum.h"
#include "topology/spectrum/topology_json.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

std::string Number(double value) { return absl::StrFormat("%.6g", value); }

std::string Rounds(double rounds) {
  return std::isinf(rounds) ? "never" : absl::StrFormat("%.0f", rounds);
}

// Returns whether the gap is below the residual, within which Lanczos bounds rho from below.
bool Unresolved(const Spectrum& spectrum) { return spectrum.residual > spectrum.gap(); }

std::string Source(const Spectrum& spectrum) {
  if (spectrum.method != Spectrum::Method::kLanczos) return MethodName(spectrum.method);
  return absl::StrFormat("Lanczos, residual %.1e%s", spectrum.residual,
                         Unresolved(spectrum) ? ": the gap is below it" : "");
}

std::string Degrees(const TopologySummary& summary) {
  if (summary.degree_min == summary.degree_max) return absl::StrCat(summary.degree_max);
  return absl::StrFormat("min %d, mean %.3g, max %d", summary.degree_min, summary.degree_mean,
                         summary.degree_max);
}

std::string Sends(const TopologySummary& summary) {
  if (summary.degree_min == summary.degree_max)
    return absl::StrCat(summary.degree_max, " M a node");
  return absl::StrFormat("up to %d M a node, %.3g M on average", summary.degree_max,
                         summary.degree_mean);
}

std::string Eigenvalue(const std::complex<double>& value) {
  return value.imag() == 0 ? Number(value.real())
                           : absl::StrFormat("%.6g%+.6gi", value.real(), value.imag());
}

// Returns "1, 0.804738 (2), 0.333333 (2), ...": the largest distinct eigenvalues and how often they
// occur.
std::string Eigenvalues(const Spectrum& spectrum) {
  constexpr size_t kMaxGroups = 8;
  std::vector<std::pair<std::string, int>> groups;
  for (const auto& value : spectrum.eigenvalues) {
    std::string text = Eigenvalue(value);
    if (groups.empty() || groups.back().first != text) groups.emplace_back(std::move(text), 0);
    ++groups.back().second;
  }
  const bool cut = groups.size() > kMaxGroups;
  if (cut) groups.resize(kMaxGroups);
  return absl::StrJoin(groups, ", ",
                       [](std::string* out, const auto& group) {
                         absl::StrAppend(out, group.first);
                         if (group.second > 1) absl::StrAppend(out, " (", group.second, ")");
                       }) +
         (cut ? ", ... (--json has all)" : "");
}

// Returns why rho is 1.
std::string WhyNever(const TopologySummary& summary) {
  const Spectrum& spectrum = summary.product ? *summary.product : summary.spectrum;
  constexpr double kNear = 1e-9;
  int ones = 0;
  bool minus_one = false;
  for (const std::complex<double>& value : spectrum.eigenvalues) {
    ones += std::abs(value - 1.0) < kNear ? 1 : 0;
    minus_one |= std::abs(value + 1.0) < kNear;
  }
  if (ones > 1) return "rho is 1: the weights leave parts of the graph disconnected";
  if (minus_one) {
    return "rho is 1: the weights are bipartite, and two halves swap their values forever; "
           "use --mixing=lazy";
  }
  return "rho is 1 up to rounding: disconnected, bipartite or periodic weights";
}

std::string Pace(const TopologySummary& summary) {
  if (summary.exact) {
    return absl::StrCat("gone after ", summary.period, summary.period == 1 ? " round" : " rounds",
                        " (exact average)");
  }
  if (std::isinf(summary.rounds_to_tenth))
    return absl::StrCat("never vanishes: ", WhyNever(summary));
  return absl::StrCat("a tenth after ", Unresolved(summary.spectrum) ? "at least " : "",
                      Rounds(summary.rounds_to_tenth), " rounds",
                      summary.contraction ? ", in expectation" : "");
}

std::string Schedule(const TopologySummary& summary) {
  switch (summary.period) {
    case 0:
      return absl::StrCat("a new graph in every round; this is round ", summary.round);
    case 1:
      return "the same graph in every round";
    default:
      return absl::StrCat("repeats after ", summary.period, " rounds; this is round ",
                          summary.round % summary.period);
  }
}

using Lines = std::vector<std::pair<const char*, std::string>>;

Lines Describe(const TopologySummary& summary) {
  Lines lines = {
      {"mixing", summary.mixing},
      {"schedule", Schedule(summary)},
      {"edges", absl::StrCat(summary.edges, summary.directed ? ", directed" : "")},
      {"degree", Degrees(summary)},
      {"sent per round", absl::StrCat(Sends(summary), " (M: one replica)")},
      {"rho", absl::StrFormat("%.10g (%s)", summary.spectrum.rho, Source(summary.spectrum))},
      {"spectral gap", Number(summary.spectrum.gap())}};
  if (!summary.spectrum.eigenvalues.empty()) {
    lines.emplace_back("eigenvalues", Eigenvalues(summary.spectrum));
  }
  if (summary.product) {
    std::vector<std::string> rhos;
    for (double rho : summary.rho_by_round) rhos.push_back(Number(rho));
    lines.emplace_back("rho by round", absl::StrJoin(rhos, ", "));
    lines.emplace_back("rho of a period", Number(summary.product->rho));
  }
  if (summary.contraction) {
    lines.emplace_back("variance", absl::StrCat("times ", Number(*summary.contraction),
                                                " a round in expectation (closed form)"));
  }
  lines.emplace_back("disagreement", Pace(summary));
  return lines;
}

// Returns one topology in detail.
std::string TopologyText(const TopologySummary& summary) {
  std::string text = absl::StrCat(summary.topology, ", ", summary.nodes,
                                  summary.nodes == 1 ? " node" : " nodes", "\n");
  for (const auto& [name, value] : Describe(summary)) {
    absl::StrAppend(&text, absl::StrFormat("  %-16s %s\n", name, value));
  }
  return text;
}

// Returns several topologies side by side, one line each.
std::string TopologyTable(const std::vector<TopologySummary>& summaries) {
  int width = 8;
  for (const TopologySummary& summary : summaries) {
    width = std::max(width, static_cast<int>(summary.topology.size()));
  }
  std::string text =
      absl::StrFormat("%-*s %7s %9s %7s %8s %9s %11s %7s %9s\n", width, "topology", "nodes",
                      "edges", "degree", "period", "rho", "gap", "rounds", "M sent");
  for (const TopologySummary& summary : summaries) {
    absl::StrAppend(
        &text, absl::StrFormat("%-*s %7d %9d %7d %8s %9s %11s %7s %9s\n", width, summary.topology,
                               summary.nodes, summary.edges, summary.degree_max,
                               summary.period == 0 ? "endless" : absl::StrCat(summary.period),
                               Number(summary.shrink), Number(1 - summary.shrink),
                               Rounds(summary.rounds_to_tenth),
                               Rounds(summary.rounds_to_tenth * summary.degree_max)));
  }
  absl::StrAppend(
      &text,
      "rho: what a round leaves of the disagreement in the long run (the mean of a period); "
      "gap: 1 - rho\n"
      "rounds, M sent: until a tenth is left, and the replicas a node sends for it\n");
  return text;
}

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

std::vector<std::string> FormatNames() {
  std::vector<std::string> names;
  for (const auto& [name, format] : kFormats) names.push_back(name);
  return names;
}

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
  Command command = line.AddCommand(
      "topology",
      "print the properties of a graph, or the graph itself, or find the best for a network");
  const auto options = std::make_shared<TopologyOptions>();
  const Flag topology = command.AddFlag(
      {.names = "--topology",
       .help = absl::StrCat("communication graph, or several to compare, separated by commas: ",
                            JoinHelp(Topologies().Listings())),
       .placeholder = "SPEC",
       .words = ValueWords(ConfigFieldNamed("topology"))},
      &options->topologies);
  command.AddFlag({.names = "-n,--nodes",
                   .help = "number of nodes",
                   .placeholder = "N",
                   .aliases = {"--world-size"}},
                  &options->nodes);
  const Flag mixing =
      command.AddFlag({.names = "--mixing",
                       .help = absl::StrCat("mixing weights: ", JoinHelp(Mixings().Listings())),
                       .placeholder = "SPEC",
                       .words = ValueWords(ConfigFieldNamed("mixing"))},
                      &options->mixing);
  command.AddFlag({.names = "--seed", .help = "seed of everything random", .placeholder = "N"},
                  &options->seed);
  const Flag round = command.AddFlag(
      {.names = "--round", .help = "which round of a schedule to show", .placeholder = "R"},
      &options->round);
  const Flag json =
      command.AddSwitch({.names = "--json", .help = "print one JSON object for each topology"});
  const Flag format = command
                          .AddFlag({.names = "--format",
                                    .help = "write the graph instead: edges, graphml or dot",
                                    .placeholder = "FORMAT",
                                    .words = FormatNames()},
                                   &options->format)
                          .Excludes(json);
  command.AddFlag({.names = "-o,--out",
                   .help = "write to FILE instead of standard output; with --optimize, write the "
                           "graph there, and its weights to FILE.mixing",
                   .placeholder = "FILE",
                   .aliases = {"--output"}},
                  &options->out);
  const auto optimize = DeclareOptimization(command, {topology, mixing, round, format});
  command.OnChosen([options, json, optimize] {
    options->json = json.given();
    if (!optimize->given()) return RunTopology(*options);
    return optimize->Run({.nodes = options->nodes,
                          .seed = options->seed,
                          .json = options->json,
                          .out = options->out});
  });
}

}  // namespace grapevine
