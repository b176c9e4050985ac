#include "experiment/real/node_placement.h"

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "node/identity/host_list.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

std::optional<std::string> ProcessEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

template <typename T>
std::optional<Sourced<T>> Given(bool has, T value, const Origin& origin) {
  if (!has) return std::nullopt;
  return Sourced<T>{std::move(value), origin.where};
}

absl::StatusOr<std::optional<Sourced<HostPlaces>>> GivenHosts(const ResolvedConfig& resolved) {
  const Config& config = resolved.config;
  if (!config.has_hostfile() && !config.has_hosts()) return std::nullopt;
  ASSIGN_OR_RETURN(HostPlaces places, config.has_hostfile() ? ReadHostfile(config.hostfile())
                                                            : ParseHostList(config.hosts()));
  return Sourced<HostPlaces>{std::move(places), config.has_hostfile() ? "--hostfile" : "--hosts"};
}

// The address to listen on if rank 0 is found under `master`: loopback stays loopback.
std::string Listening(const std::string& master) {
  if (!IsLoopback(master)) return "0.0.0.0";
  return master == "localhost" ? "127.0.0.1" : master;
}

// Records the identity in the configuration, with its origins.
void Note(const NodeIdentity& identity, ResolvedConfig* resolved) {
  const auto set = [resolved](const std::string& field, const std::string& origin) {
    if (resolved->OriginOf(field).where == origin) return;
    resolved->origins[field] = {Source::kEnvironment, origin};
  };
  Config& config = resolved->config;
  config.set_nodes(identity.world_size.value);
  config.set_world_size(identity.world_size.value);
  config.set_rank(identity.rank.value);
  config.set_master_addr(identity.master_host.value);
  config.set_master_port(identity.master_port.value);
  set("nodes", identity.world_size.origin);
  set("world_size", identity.world_size.origin);
  set("rank", identity.rank.origin);
  set("master_addr", identity.master_host.origin);
  set("master_port", identity.master_port.origin);
}

// What exposes the run to strangers; empty on loopback alone.
std::string BeyondLoopback(const NodePlacement& placement) {
  if (!IsLoopback(placement.bind.host)) return absl::StrCat("listens on ", placement.bind.host);
  if (!IsLoopback(placement.coordinator.host)) {
    return absl::StrCat("connects to ", placement.coordinator.host);
  }
  return "";
}

}  // namespace

absl::StatusOr<NodeIdentity> IdentifyNode(ResolvedConfig* resolved) {
  Config& config = resolved->config;
  ASSIGN_OR_RETURN(std::optional<Sourced<HostPlaces>> hosts, GivenHosts(*resolved));
  const IdentityOptions options{
      .rank = Given<int>(config.has_rank(), config.rank(), resolved->OriginOf("rank")),
      .world_size = Given<int>(config.has_world_size(), config.world_size(),
                               resolved->OriginOf("world_size")),
      .master_host = Given<std::string>(config.has_master_addr(), config.master_addr(),
                                        resolved->OriginOf("master_addr")),
      .master_port = Given<int>(config.has_master_port(), config.master_port(),
                                resolved->OriginOf("master_port")),
      .hosts = std::move(hosts),
      .own_names = HostNames()};
  ASSIGN_OR_RETURN(NodeIdentity identity, ResolveIdentity(options, ProcessEnvironment));
  const Origin nodes = resolved->OriginOf("nodes");
  if (nodes.source != Source::kDefault && config.nodes() != identity.world_size.value) {
    return UsageError(absl::StrCat(nodes.where, " says ", config.nodes(), " nodes, ",
                                   identity.world_size.origin, " says ", identity.world_size.value,
                                   "; leave --nodes out, or make them agree"));
  }
  Note(identity, resolved);
  return identity;
}

absl::StatusOr<NodePlacement> PlaceNode(const Config& config, const NodeIdentity& identity,
                                        bool any_port) {
  NodePlacement placement{.coordinator = {identity.master_host.value, identity.master_port.value},
                          .bind = {},
                          .advertise = {}};
  placement.bind.host = Listening(identity.master_host.value);
  if (identity.rank.value == 0) {
    placement.bind.port = any_port ? 0 : identity.master_port.value;
  } else if (identity.place) {
    placement.bind.port = identity.place->port;
  }
  if (config.has_bind()) {
    ASSIGN_OR_RETURN(HostAddress bind, ParseHostAddress(config.bind(), 0));
    placement.bind.host = bind.host.empty() ? placement.bind.host : bind.host;
    placement.bind.port = bind.port > 0 ? bind.port : placement.bind.port;
  }
  if (identity.place) placement.advertise.host = identity.place->host;
  if (config.has_advertise()) {
    ASSIGN_OR_RETURN(HostAddress advertise, ParseHostAddress(config.advertise(), 0));
    placement.advertise = advertise;
  }
  return placement;
}

std::string PlaceText(const NodeIdentity& identity, const NodePlacement& placement) {
  const HostAddress& bind = placement.bind;
  return absl::StrCat(
      "rank ", identity.rank.value, " of ", identity.world_size.value, " (", identity.rank.origin,
      ", ", identity.world_size.origin, "), local rank ", identity.local_rank.value, " (",
      identity.local_rank.origin, ")\nlistens on ",
      bind.port == 0 ? absl::StrCat(bind.host, ", any port") : FormatHostAddress(bind),
      "; rank 0 is at ", FormatHostAddress(placement.coordinator), "\n");
}

absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodePlacement& placement) {
  absl::StatusOr<TokenSource> token = FindToken(config, std::getenv(kTokenVariable));
  if (!token.ok() || !token->secret.empty() || config.insecure()) return token;
  const std::string beyond = BeyondLoopback(placement);
  if (beyond.empty()) return token;
  return UsageError(absl::StrCat(
      "this node ", beyond,
      ", which is not this machine alone, and has no token: give every "
      "rank the same --token-file=FILE or ",
      kTokenVariable, config.has_tls_ca() ? "" : ", and --tls-ca, --tls-cert and --tls-key",
      ", or --insecure on a network that you trust"));
}

}  // namespace grapevine
