#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "cli/commands/commands.h"
#include "cli/commands/doctor_report.h"
#include "cli/commands/train_hosts.h"
#include "cli/flags/config_flags.h"
#include "cli/terminal/status_line.h"
#include "cli/terminal/text_output.h"
#include "experiment/core/experiment.h"
#include "experiment/measured_network/measured_network.h"
#include "experiment/real/descriptor_needs.h"
#include "experiment/real/node_addresses.h"
#include "node/identity/authentication.h"
#include "node/identity/host_address.h"
#include "node/identity/identity.h"
#include "node/launch/host_groups.h"
#include "node/launch/host_survey.h"
#include "node/probe/findings.h"
#include "node/probe/survey.h"
#include "run/config/config_field.h"
#include "run/config/config_resolve.h"
#include "run/config/resolved_config.h"
#include "run/config/token_source.h"
#include "run/records/revision.h"
#include "system/file_descriptor.h"
#include "system/machine_names.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// If no graph is given, all pairs of up to this many hosts are measured: fifteen.
constexpr size_t kFewHosts = 6;
constexpr std::chrono::milliseconds kLongestMeasurement{30000};

struct DoctorOptions {
  std::string network_out;
  std::string measure_time = "1s";
};

std::vector<const ConfigField*> DoctorFields() {
  std::vector<const ConfigField*> fields = FieldsInGroups({"Hosts", "Launch", "Security"});
  for (const char* name : {"nodes", "topology", "algorithm", "model", "data", "optimizer", "seed",
                           "rendezvous_timeout", "peer_timeout"}) {
    fields.push_back(&ConfigFieldNamed(name));
  }
  return fields;
}

// Surveys the hosts; on a terminal, says there how far it has come.
absl::StatusOr<Survey> SurveyOnTerminal(const HostSurveyOptions& options) {
  StatusLine line;
  return SurveyHosts(options, [&line](std::string_view text) {
    if (line.live()) line.Say(text);
  });
}

absl::StatusOr<HostSlots> SlotsOf(const Config& config) {
  const auto nodes = static_cast<size_t>(config.nodes());
  ASSIGN_OR_RETURN(std::optional<Sourced<HostSlots>> hosts, GivenHosts(config));
  if (!hosts) return HostSlots(nodes, HostAddress{.host = "localhost"});
  hosts->value.resize(nodes);
  return std::move(hosts->value);
}

absl::StatusOr<std::shared_ptr<const Topology>> GraphOf(const Config& config) {
  auto topology = MakeTopology(config.topology(), config.nodes(), config.seed());
  if (!topology.ok()) return NamingFlag("--topology", config.topology(), topology.status());
  return *std::move(topology);
}

// Returns the edges from host to host over which a replica goes in some round, also from a host to
// itself.
std::set<HostEdge> EdgesOfGraph(const Topology& topology, const HostGroups& hosts) {
  std::set<HostEdge> edges;
  std::vector<Rank> neighbours;
  for (Round round = 0; round < topology.shown_rounds(); ++round) {
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      topology.OutNeighbours(rank, round, &neighbours);
      for (const Rank to : neighbours) {
        edges.insert({hosts.of[static_cast<size_t>(rank)], hosts.of[static_cast<size_t>(to)]});
      }
    }
  }
  return edges;
}

std::vector<HostEdge> EdgesToMeasure(const Topology& topology, const HostGroups& hosts,
                                     bool graph_given) {
  std::set<HostEdge> edges = EdgesOfGraph(topology, hosts);
  const size_t count = hosts.groups.size();
  if (!graph_given && count <= kFewHosts) {
    for (size_t from = 0; from < count; ++from) {
      for (size_t to = 0; to < count; ++to) {
        if (from != to) edges.insert({from, to});
      }
    }
  }
  if (count == 1) edges.insert({0, 0});
  return {edges.begin(), edges.end()};
}

// Returns the bytes of a node's vectors; absent if no model is given.
absl::StatusOr<std::optional<int64_t>> MemoryNeeded(const ResolvedConfig& resolved) {
  if (resolved.OriginOf("model").source == Source::kDefault) return std::nullopt;
  Config config = resolved.config;
  // How long a run takes does not matter here, but must be given.
  config.clear_epochs();
  config.set_rounds(1);
  if (absl::StartsWith(config.model(), "phantom:") && !config.has_compute()) {
    config.set_compute("1ms");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Experiment> experiment, Experiment::Build(config));
  ASSIGN_OR_RETURN(const int64_t bytes, experiment->VectorBytes());
  return bytes;
}

std::vector<probe::TlsFiles> FilesOfRanks(const Config& config) {
  std::vector<probe::TlsFiles> files;
  if (!config.has_tls_ca()) return files;
  for (Rank rank = 0; rank < config.nodes(); ++rank) {
    probe::TlsFiles& of_rank = files.emplace_back();
    of_rank.set_rank(rank);
    of_rank.set_ca(config.tls_ca());
    of_rank.set_cert(FileOfRank(config.tls_cert(), rank));
    of_rank.set_key(FileOfRank(config.tls_key(), rank));
  }
  return files;
}

absl::StatusOr<std::chrono::milliseconds> MeasureTime(const DoctorOptions& options) {
  const absl::StatusOr<std::chrono::nanoseconds> time = ParseDuration(options.measure_time);
  if (!time.ok()) return NamingFlag("--measure-time", options.measure_time, time.status());
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(*time);
  if (*time != whole || whole < std::chrono::milliseconds(0) || whole > kLongestMeasurement) {
    return UsageError(absl::StrCat("--measure-time=", options.measure_time,
                                   ": must be whole milliseconds, at most ",
                                   FormatDuration(kLongestMeasurement)));
  }
  if (whole == std::chrono::milliseconds(0) && !options.network_out.empty()) {
    return UsageError("--network-out has nothing to write with --measure-time=0s");
  }
  return whole;
}

absl::StatusOr<HostSurveyOptions> SurveyOptionsOf(const Config& config, HostSlots slots,
                                                  std::vector<HostEdge> edges,
                                                  std::chrono::milliseconds duration) {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  if (error) return OutputError("the current folder is gone", error.value());
  ASSIGN_OR_RETURN(std::string token, DrawToken());
  return HostSurveyOptions{.hosts = {.slots = std::move(slots),
                                     .own_names = HostNames(),
                                     .shell = config.remote_shell(),
                                     .program = config.remote_program(),
                                     .build = absl::StrCat(Version(), " (", Revision(), ")"),
                                     .folder = folder,
                                     .patience = ResolvedTimeout(config.rendezvous_timeout()),
                                     .silence = ResolvedTimeout(config.peer_timeout())},
                           .token = std::move(token),
                           .tls = FilesOfRanks(config),
                           .edges = std::move(edges),
                           .duration = duration};
}

// Returns the flag with which the simulator puts the ranks on the hosts of the file as a run does.
std::string PlacementFlag(const HostGroups& hosts) {
  const size_t each = hosts.groups.front().ranks.size();
  const bool alike = std::ranges::all_of(hosts.groups, [each](const HostGroup& group) {
    return group.ranks.size() == each &&
           group.ranks.back() - group.ranks.front() + 1 == static_cast<Rank>(group.ranks.size());
  });
  if (each == 1 && alike) return "";
  if (alike) return absl::StrCat(" --placement=order:per-host=", each);
  return " --placement=file:PLACES (a file with the host of each rank, a line each)";
}

absl::Status WriteNetwork(const Survey& survey, TextOutput output) {
  ASSIGN_OR_RETURN(const std::string text,
                   NetworkFileText(MeasuredNetworkOf(survey), "measured by `grapevine doctor`"));
  RETURN_IF_ERROR(output.Append(text));
  return output.Close();
}

absl::Status Conclude(const std::vector<Finding>& findings) {
  const auto failed = std::ranges::count(findings, Severity::kFailed, &Finding::severity);
  if (failed == 0) return absl::OkStatus();
  return WithFailure(
      absl::FailedPreconditionError(absl::StrCat(
          "a run would fail: ", failed, failed == 1 ? " finding" : " findings", ", above")),
      Failure::kRendezvous);
}

absl::Status Examine(ResolvedConfig& resolved, const DoctorOptions& options, bool json) {
  ASSIGN_OR_RETURN(const std::chrono::milliseconds duration, MeasureTime(options));
  if (options.network_out == "-") {
    return UsageError("--network-out=-: the findings go to the standard output; name a file");
  }
  RETURN_IF_ERROR(SettleHosts(&resolved));
  const Config& config = resolved.config;
  RETURN_IF_ERROR(TokenForNodes(config).status());
  ASSIGN_OR_RETURN(const HostSlots slots, SlotsOf(config));
  const HostGroups hosts = GroupByHost(slots);
  ASSIGN_OR_RETURN(const std::shared_ptr<const Topology> topology, GraphOf(config));
  RunNeeds needs{.build = absl::StrCat(Version(), " (", Revision(), ")"),
                 .tls = config.has_tls_ca(),
                 .names = RankNames(config.tls_identity()),
                 .descriptors = DescriptorsNeeded(*topology)};
  ASSIGN_OR_RETURN(needs.memory, MemoryNeeded(resolved));
  std::optional<TextOutput> network;
  if (!options.network_out.empty()) {
    ASSIGN_OR_RETURN(network, TextOutput::Open(options.network_out));
  }
  const bool graph_given = resolved.OriginOf("topology").source != Source::kDefault;
  ASSIGN_OR_RETURN(
      const HostSurveyOptions asked,
      SurveyOptionsOf(config, slots, EdgesToMeasure(*topology, hosts, graph_given), duration));
  RaiseDescriptorLimit();
  ASSIGN_OR_RETURN(const Survey survey, SurveyOnTerminal(asked));
  const std::vector<Finding> findings = FindingsOf(survey, needs);
  std::cout << (json ? DoctorJson(survey, findings) : DoctorText(survey, findings)) << std::flush;
  const absl::Status conclusion = Conclude(findings);
  if (network) {
    const absl::Status written = WriteNetwork(survey, *std::move(network));
    // If hosts do not reach each other, that is the reason why no file is written.
    RETURN_IF_ERROR(conclusion.ok() ? written : conclusion);
    if (!json) {
      std::cout << "\nto simulate it: grapevine sim -n " << config.nodes()
                << " --network=file:" << options.network_out << PlacementFlag(hosts) << "\n";
    }
  }
  RETURN_IF_ERROR(conclusion);
  return FlushStandardOutput();
}

}  // namespace

void AddDoctorCommand(CommandLine& line) {
  Command command = line.AddCommand(
      "doctor",
      "look at the hosts of a run before it begins, and measure the network between them");
  command.SetFooter(
      "Without hosts, this machine alone is looked at. A finding that would make a run fail ends\n"
      "the command with exit code 5.\n"
      "\n"
      "Examples:\n"
      "  grapevine doctor -H node1:4,node2:4\n"
      "  grapevine doctor --hostfile=hosts --topology=torus --model=phantom:100MB\n"
      "  grapevine doctor -H node1,node2,node3 --network-out=lab.textproto");
  const auto options = std::make_shared<DoctorOptions>();
  command.AddFlag({.names = "--network-out",
                   .help = "write the measured network there, for `grapevine sim "
                           "--network=file:FILE`",
                   .placeholder = "FILE"},
                  &options->network_out);
  command.AddFlag({.names = "--measure-time",
                   .help = "how long the bandwidth of each edge is measured; 0s: not at all",
                   .placeholder = "TIME"},
                  &options->measure_time);
  const Flag json = command.AddSwitch({.names = "--json", .help = "print one JSON object"});
  const auto flags = std::make_shared<ConfigFlags>(command, DoctorFields());
  command.OnChosen([options, json, flags]() -> absl::Status {
    ASSIGN_OR_RETURN(ResolvedConfig resolved, flags->Resolve());
    return Examine(resolved, *options, json.given());
  });
}

}  // namespace grapevine
