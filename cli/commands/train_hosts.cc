#include "cli/commands/train_hosts.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/core/run_checkpoints.h"
#include "experiment/real/node_addresses.h"
#include "node/identity/host_address.h"
#include "node/identity/identity.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/config/token_source.h"
#include "run/records/revision.h"
#include "system/file_descriptor.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

// Settings that only concern nodes on several machines.
constexpr std::string_view kOfHosts[] = {"tls_ca",       "tls_cert",      "tls_key",
                                         "tls_identity", "insecure",      "token_file",
                                         "remote_shell", "remote_program"};

// Refuses these settings as flags, and otherwise drops them: variables and files speak to nodes of
// clusters, too.
absl::Status DropWhatIsOfHosts(ResolvedConfig* resolved) {
  for (const std::string_view name : kOfHosts) {
    const std::string field(name);
    if (resolved->OriginOf(field).source == Source::kCommandLine) {
      return UsageError(absl::StrCat(FlagName(ConfigFieldNamed(field)),
                                     ": all nodes are on this machine, where they need none of "
                                     "it; --hosts or --hostfile says on which others they are"));
    }
    ClearField(ConfigFieldNamed(field), &resolved->config);
    resolved->origins.erase(field);
  }
  return absl::OkStatus();
}

// Refuses a first host that is a loopback address beside other hosts, which could not dial it.
absl::Status CheckFirst(const HostSlots& slots, const std::string& flag) {
  const std::string& first = slots.front().host;
  if (!IsLoopback(first)) return absl::OkStatus();
  for (const HostAddress& slot : slots) {
    if (IsLoopback(slot.host)) continue;
    return UsageError(absl::StrCat(flag, ": ", slot.host, " does not find rank 0 as ", first,
                                   ": name this machine as the others reach it"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status SettleHosts(ResolvedConfig* resolved) {
  Config& config = resolved->config;
  ASSIGN_OR_RETURN(const std::optional<Sourced<HostSlots>> hosts, GivenHosts(config));
  if (!hosts) return DropWhatIsOfHosts(resolved);
  RETURN_IF_ERROR(CheckFirst(hosts->value, hosts->origin));
  const auto slots = static_cast<int>(hosts->value.size());
  if (resolved->OriginOf("nodes").source == Source::kDefault) {
    config.set_nodes(slots);
    resolved->origins["nodes"] = resolved->OriginOf(config.has_hosts() ? "hosts" : "hostfile");
  }
  if (config.nodes() <= slots) return absl::OkStatus();
  return UsageError(absl::StrCat(OriginText(*resolved, "nodes"), " says ", config.nodes(),
                                 " nodes, and ", hosts->origin, " has ", slots,
                                 slots == 1 ? " slot" : " slots", ": HOST:", config.nodes(),
                                 " is a host with so many"));
}

absl::StatusOr<std::string> TokenForNodes(const Config& config) {
  if (!HasHosts(config)) return DrawToken();
  ASSIGN_OR_RETURN(TokenSource token, FindToken(config, std::getenv(kTokenVariable)));
  if (token.secret.empty()) return DrawToken();
  return std::move(token.secret);
}

absl::StatusOr<std::unique_ptr<RemoteHosts>> ConnectHosts(
    const Config& config, const std::string& run, const std::string& run_lock,
    const std::vector<std::string>& arguments,
    const std::map<std::string, std::string>& environment) {
  RaiseDescriptorLimit();
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string();
  if (error) return OutputError("the current folder is gone", error.value());
  ASSIGN_OR_RETURN(std::optional<Sourced<HostSlots>> hosts, GivenHosts(config));
  hosts->value.resize(static_cast<size_t>(config.nodes()));
  RemoteHostsOptions options{.slots = std::move(hosts->value),
                             .own_names = HostNames(),
                             .shell = config.remote_shell(),
                             .program = config.remote_program(),
                             .build = absl::StrCat(Version(), " (", Revision(), ")"),
                             .folder = folder,
                             .run = run,
                             .run_lock = run_lock,
                             .config = ConfigFileText(config),
                             .arguments = arguments,
                             .environment = environment,
                             .patience = ResolvedTimeout(config.rendezvous_timeout()),
                             .silence = ResolvedTimeout(config.peer_timeout())};
  if (SavesBeforeItEnds(config)) options.grace = kSavingPatience + kEndAfterSaving;
  ASSIGN_OR_RETURN(std::unique_ptr<RemoteHosts> connected, RemoteHosts::Connect(options));
  if (run.empty() || connected->shares_run_with_first()) return connected;
  return OutputError(absl::StrCat("--out=", run, ": ", connected->first_name(),
                                  ", where rank 0 writes it, does not share it with this machine: "
                                  "start there, or give a folder that both have"));
}

}  // namespace grapevine
