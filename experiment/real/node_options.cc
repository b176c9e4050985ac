#include "experiment/real/node_options.h"

#include <glog/logging.h>

#include <cstdint>
#include <random>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/core/failure_policy.h"
#include "node/discovery/grpc_discovery.h"
#include "node/identity/authentication.h"
#include "node/server/grpc_credentials.h"
#include "run/config/config_field.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

// Draws an id that no other run has. It is only ever compared, so it need not be reproducible.
std::string NewRunId() {
  std::random_device device;
  return absl::StrCat(absl::Hex(uint64_t{device()} << 32 | device(), absl::kZeroPad16));
}

absl::StatusOr<GrpcCredentials> NodeCredentials(const Config& config, Rank rank) {
  return GrpcCredentials::Load({.ca = config.tls_ca(),
                                .cert = FileOfRank(config.tls_cert(), rank),
                                .key = FileOfRank(config.tls_key(), rank),
                                .insecure = config.insecure(),
                                .names = RankNames(config.tls_identity()),
                                .rank = rank});
}

// Returns the credentials for etcd: those of the nodes, unless etcd has an authority of its own.
absl::StatusOr<GrpcCredentials> EtcdCredentials(const Config& config, Rank rank,
                                                const GrpcCredentials& nodes) {
  if (!config.has_etcd_ca()) return nodes;
  return GrpcCredentials::Load({.ca = config.etcd_ca(),
                                .cert = FileOfRank(config.etcd_cert(), rank),
                                .key = FileOfRank(config.etcd_key(), rank)});
}

}  // namespace

absl::StatusOr<NodeRunOptions> NodeOptionsOf(const Config& config, const NodeIdentity& identity,
                                             const NodeAddresses& addresses,
                                             const CoordinatorPlace& place, std::string token,
                                             const std::optional<std::string>& role_folder) {
  const SignalsAreForOthers meanwhile;  // a store has threads
  NodeRunOptions options{.rank = identity.rank.value, .local_rank = identity.local_rank.value};
  options.joins = config.join();
  options.telemetry = addresses.telemetry;
  options.session.run_id = NewRunId();
  options.session.coordinator = addresses.coordinator;
  options.session.bind = addresses.bind;
  options.session.advertise = addresses.advertise;
  ASSIGN_OR_RETURN(GrpcCredentials credentials, NodeCredentials(config, identity.rank.value));
  ASSIGN_OR_RETURN(const GrpcCredentials etcd,
                   EtcdCredentials(config, identity.rank.value, credentials));
  for (const std::string& warning : std::set{credentials.warning(), etcd.warning()}) {
    if (!warning.empty()) LOG(WARNING) << warning;
  }
  RETURN_IF_ERROR(credentials.ForServer(addresses.bind.host).status());
  options.session.token = RunToken(std::move(token));
  const bool exposed = options.session.token.given() || config.insecure();
  const DiscoveryOptions looking{.credentials = credentials,
                                 .etcd = etcd,
                                 .token = options.session.token,
                                 .peer_timeout = ResolvedTimeout(config.peer_timeout()),
                                 .loopback_only = !exposed,
                                 .role_moves = GoesOnWithoutTheLost(config)};
  ASSIGN_OR_RETURN(options.session.discovery, MakeDiscovery(place, looking));
  options.session.role = role_folder && looking.role_moves ? KeepRoleIn(*role_folder, looking)
                                                           : options.session.discovery;
  const bool moves =
      options.session.role != nullptr && options.session.role->moving_role() != nullptr;
  if (config.join() && options.rank == 0 && !moves) {
    return UsageError(
        "--join: rank 0 begins a run; it can come into one only where others take its role over, "
        "which needs a place that says who has it (--coordinator=file:DIR or etcd:...)");
  }
  options.session.credentials = std::move(credentials);
  return options;
}

}  // namespace grapevine
