#include "experiment/real/node_addresses.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/identity/identity.h"
#include "node/telemetry/telemetry_port.h"
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

constexpr char kFlag[] = "--coordinator";

// Returns what --coordinator says in place of --master-addr; absent if it names a store.
std::optional<Sourced<std::string>> NamedMaster(const CoordinatorPlace& place) {
  if (const auto* at = std::get_if<CoordinatorAt>(&place); at && !at->address.empty()) {
    return Sourced<std::string>{at->address, kFlag};
  }
  if (const auto* dns = std::get_if<CoordinatorInDns>(&place)) {
    return Sourced<std::string>{FormatHostAddress(dns->name), kFlag};
  }
  return std::nullopt;
}

// Returns the address to listen on if rank 0 is found under `master`: loopback stays loopback.
std::string Listening(const std::string& master) {
  if (!IsLoopback(master)) return "0.0.0.0";
  return master == "localhost" ? "127.0.0.1" : master;
}

// Whether the address is this machine's, as far as that can be known.
bool IsOwn(const std::string& host) {
  if (IsLoopback(host)) return true;
  const std::vector<std::string> own = HostNames();
  return std::ranges::find(own, host) != own.end();
}

// Whether nobody would answer at the advertised address, because it and the bound one are different
// addresses of this machine. At a port other than the node's own, a relay to the node may listen.
bool IsElsewhereHere(const HostAddress& bind, const HostAddress& advertise) {
  return AreDifferentAddresses(bind.host, advertise.host) && !IsEverywhere(bind.host) &&
         (advertise.port == 0 || advertise.port == bind.port) && IsOwn(bind.host) &&
         IsOwn(advertise.host);
}

// Makes a node also listen at the address where others are told to reach it.
absl::Status ListenWhereAdvertised(const Config& config, Rank rank, NodeAddresses* addresses) {
  const std::string& advertised = addresses->advertise.host;
  HostAddress& bind = addresses->bind;
  if (!IsElsewhereHere(bind, addresses->advertise)) return absl::OkStatus();
  const bool told = config.has_bind() && !config.bind().starts_with(':');
  if (told || (rank == 0 && IsLoopback(advertised))) {
    return UsageError(absl::StrCat(
        "this node would listen on ", bind.host,
        told ? " (--bind)" : ", where the others look for rank 0,", " and be dialled at ",
        advertised,
        ", another address of this machine, where nobody would answer: give --bind=0.0.0.0, or let "
        "--bind and --advertise agree"));
  }
  bind.host = IsLoopback(advertised) ? advertised : "0.0.0.0";
  return absl::OkStatus();
}

constexpr int kLastPort = 65535;

// Returns the error of a flag that says where something listens for observers.
absl::Status Refused(std::string_view flag, const std::string& given, const std::string& why) {
  return UsageError(absl::StrCat(std::string(flag), "=", given, ": ", why));
}

// Reads [ADDR:]PORT, which is on loopback unless it says otherwise; absent for port 0.
absl::StatusOr<std::optional<HostAddress>> AddressForWatchers(std::string_view flag,
                                                              const std::string& given) {
  int port = 0;
  const bool alone = ParsePort(given, &port);
  if (alone && port == 0) return std::nullopt;
  if (!alone && given.find(':') == given.npos) {
    return Refused(flag, given, "a port is a number from 0 to 65535; expected PORT or ADDR:PORT");
  }
  absl::StatusOr<HostAddress> address = ParseHostAddress(alone ? absl::StrCat(":", given) : given);
  if (!address.ok()) return Refused(flag, given, std::string(address.status().message()));
  if (address->port == 0) return Refused(flag, given, "who watches must know the port; give one");
  if (address->host.empty()) address->host = "127.0.0.1";
  return *std::move(address);
}

constexpr std::string_view kMetricsPort = "--metrics-port";

absl::StatusOr<std::optional<HostAddress>> TelemetryAddress(const Config& config, int local_rank) {
  const std::string& given = config.metrics_port();
  ASSIGN_OR_RETURN(std::optional<HostAddress> address, AddressForWatchers(kMetricsPort, given));
  if (!address) return address;
  address->port += local_rank;
  if (address->port > kLastPort) {
    return Refused(kMetricsPort, given,
                   absl::StrCat("local rank ", local_rank, " would be at port ", address->port,
                                ", and there is none above ", kLastPort));
  }
  return address;
}

std::string TelemetryUrl(const HostAddress& address) {
  return absl::StrCat("http://", FormatHostAddress(address), "/metrics");
}

// Records the identity in the configuration, with its origins.
void NoteIdentity(const NodeIdentity& identity, ResolvedConfig* resolved) {
  const auto set = [resolved](const std::string& field, const std::string& origin) {
    if (resolved->OriginOf(field).where == origin) return;
    resolved->origins[field] = {Source::kEnvironment, origin};
  };
  Config& config = resolved->config;
  config.set_nodes(identity.world_size.value);
  config.set_world_size(identity.world_size.value);
  config.set_rank(identity.rank.value);
  set("nodes", identity.world_size.origin);
  set("world_size", identity.world_size.origin);
  set("rank", identity.rank.origin);
  if (identity.master_host.origin == kFlag) return;  // --coordinator says it all
  config.set_master_addr(identity.master_host.value);
  config.set_master_port(identity.master_port.value);
  set("master_addr", identity.master_host.origin);
  set("master_port", identity.master_port.origin);
}

// Returns what exposes the run to unauthenticated peers; empty on loopback alone.
std::string BeyondLoopback(const NodeAddresses& addresses) {
  if (!IsLoopback(addresses.bind.host)) return absl::StrCat("listens on ", addresses.bind.host);
  const std::string& host = addresses.coordinator.host;
  if (!host.empty() && !IsLoopback(host)) {
    return absl::StrCat("connects to ", addresses.coordinator.host);
  }
  return "";
}

}  // namespace

absl::StatusOr<std::optional<Sourced<HostSlots>>> GivenHosts(const Config& config) {
  if (!HasHosts(config)) return std::nullopt;
  ASSIGN_OR_RETURN(HostSlots slots, config.has_hostfile() ? ReadHostfile(config.hostfile())
                                                          : ParseHostList(config.hosts()));
  return Sourced<HostSlots>{std::move(slots), config.has_hostfile() ? "--hostfile" : "--hosts"};
}

absl::StatusOr<CoordinatorPlace> PlaceOfCoordinator(const Config& config, bool launched) {
  if (launched || !config.has_coordinator()) return CoordinatorAt{};
  if (config.has_master_addr()) {
    return UsageError("--coordinator and --master-addr exclude each other; leave one out");
  }
  ASSIGN_OR_RETURN(CoordinatorPlace place, ParseCoordinatorPlace(config.coordinator()));
  if (IsInStore(place) && config.has_master_port()) {
    return UsageError(absl::StrCat("--master-port says nothing where rank 0 announces itself (",
                                   kFlag, "=", config.coordinator(),
                                   "): leave it out, or give rank 0 --bind=:PORT"));
  }
  return place;
}

absl::StatusOr<NodeIdentity> IdentifyNode(const CoordinatorPlace& place, ResolvedConfig* resolved,
                                          bool alone) {
  Config& config = resolved->config;
  ASSIGN_OR_RETURN(std::optional<Sourced<HostSlots>> hosts, GivenHosts(config));
  std::optional<Sourced<std::string>> master = NamedMaster(place);
  if (!master) {
    master = Given<std::string>(config.has_master_addr(), config.master_addr(),
                                resolved->OriginOf("master_addr"));
  }
  const Origin nodes = resolved->OriginOf("nodes");
  const IdentityOptions options{
      .rank = Given<int>(config.has_rank(), config.rank(), resolved->OriginOf("rank")),
      .world_size = Given<int>(config.has_world_size(), config.world_size(),
                               resolved->OriginOf("world_size")),
      .nodes = Given<int>(nodes.source != Source::kDefault, config.nodes(), nodes),
      .master_host = std::move(master),
      .master_port = Given<int>(config.has_master_port(), config.master_port(),
                                resolved->OriginOf("master_port")),
      .announced = IsInStore(place) ? kFlag : "",
      .hosts = std::move(hosts),
      .alone = alone,
      .own_names = HostNames()};
  ASSIGN_OR_RETURN(NodeIdentity identity, ResolveIdentity(options, ProcessEnvironment));
  if (nodes.source != Source::kDefault && config.nodes() != identity.world_size.value) {
    return UsageError(absl::StrCat(nodes.where, " says ", config.nodes(), " nodes, ",
                                   identity.world_size.origin, " says ", identity.world_size.value,
                                   "; leave --nodes out, or make them agree"));
  }
  NoteIdentity(identity, resolved);
  return identity;
}

absl::StatusOr<NodeAddresses> AddressesOf(const Config& config, const NodeIdentity& identity,
                                          bool any_port) {
  NodeAddresses addresses{.coordinator = {identity.master_host.value, identity.master_port.value},
                          .bind = {},
                          .advertise = {},
                          .telemetry = {}};
  ASSIGN_OR_RETURN(addresses.telemetry, TelemetryAddress(config, identity.local_rank.value));
  addresses.bind.host = Listening(identity.master_host.value);
  if (identity.rank.value == 0) {
    addresses.bind.port = any_port ? 0 : identity.master_port.value;
  } else if (identity.slot) {
    addresses.bind.port = identity.slot->port;
  }
  if (config.has_bind()) {
    ASSIGN_OR_RETURN(HostAddress bind, ParseHostAddress(config.bind(), 0));
    addresses.bind.host = bind.host.empty() ? addresses.bind.host : bind.host;
    addresses.bind.port = bind.port > 0 ? bind.port : addresses.bind.port;
  }
  if (identity.slot) addresses.advertise.host = identity.slot->host;
  if (config.has_advertise()) {
    ASSIGN_OR_RETURN(HostAddress advertise, ParseHostAddress(config.advertise(), 0));
    addresses.advertise = advertise;
  }
  RETURN_IF_ERROR(ListenWhereAdvertised(config, identity.rank.value, &addresses));
  return addresses;
}

std::string NodeText(const NodeIdentity& identity, const NodeAddresses& addresses,
                     const std::string& place) {
  const HostAddress& bind = addresses.bind;
  return absl::StrCat(
      "rank ", identity.rank.value, " of ", identity.world_size.value, " (", identity.rank.origin,
      ", ", identity.world_size.origin, "), local rank ", identity.local_rank.value, " (",
      identity.local_rank.origin, ")\nlistens on ",
      bind.port == 0 ? absl::StrCat(bind.host, ", any port") : FormatHostAddress(bind),
      place.empty() ? absl::StrCat("; rank 0 is at ", FormatHostAddress(addresses.coordinator))
                    : absl::StrCat("; rank 0 is found by way of ", place),
      addresses.telemetry ? absl::StrCat("; metrics: ", TelemetryUrl(*addresses.telemetry)) : "",
      "\n");
}

absl::StatusOr<std::string> TelemetryText(const Config& config, int nodes) {
  ASSIGN_OR_RETURN(const std::optional<HostAddress> first, TelemetryAddress(config, 0));
  if (!first) return "";
  if (HasHosts(config)) {
    return absl::StrCat("metrics: on every host from port ", first->port,
                        " on, in the order of its "
                        "ranks\n");
  }
  RETURN_IF_ERROR(TelemetryAddress(config, nodes - 1).status());
  for (int node = 0; node < nodes; ++node) {
    RETURN_IF_ERROR(CheckTelemetryPort({first->host, first->port + node}));
  }
  return absl::StrCat("metrics: ", TelemetryUrl(*first),
                      nodes > 1 ? " (rank 0; the others at the ports that follow)\n" : "\n");
}

absl::StatusOr<std::optional<HostAddress>> DashboardAddress(const Config& config) {
  return AddressForWatchers("--dashboard", config.dashboard());
}

std::string AdvertisedHost(const Config& config) {
  const absl::StatusOr<HostAddress> advertised = ParseHostAddress(config.advertise(), 0);
  return advertised.ok() ? advertised->host : "";
}

absl::Status CheckTelemetry(const NodeAddresses& addresses) {
  return addresses.telemetry ? CheckTelemetryPort(*addresses.telemetry) : absl::OkStatus();
}

absl::StatusOr<TokenSource> NodeToken(const Config& config, const NodeAddresses& addresses) {
  absl::StatusOr<TokenSource> token = FindToken(config, std::getenv(kTokenVariable));
  if (!token.ok() || !token->secret.empty() || config.insecure()) return token;
  const std::string beyond = BeyondLoopback(addresses);
  if (beyond.empty()) return token;
  return UsageError(absl::StrCat(
      "this node ", beyond,
      ", which is not this machine alone, and has no token: give every "
      "rank the same --token-file=FILE or ",
      kTokenVariable, config.has_tls_ca() ? "" : ", and --tls-ca, --tls-cert and --tls-key",
      ", or --insecure on a network that you trust"));
}

}  // namespace grapevine
