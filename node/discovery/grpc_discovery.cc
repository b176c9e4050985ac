#include "node/discovery/grpc_discovery.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "node/discovery/dns_discovery.h"
#include "node/discovery/grpc_coordinator_probe.h"
#include "node/discovery/store_discovery.h"
#include "node/store/file_store.h"
#include "node/store/grpc_etcd_store.h"
#include "system/machine_names.h"
#include "system/name_resolution.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

// A rank 0 that is killed and started again waits for that long at most.
constexpr milliseconds kLongestLease{10000};
constexpr int kMinBackoffMs = 100;
constexpr int kMaxBackoffMs = 1000;

CoordinatorProbe ProbeFor(const DiscoveryOptions& options) {
  return GrpcCoordinatorProbe(options.credentials, options.loopback_only);
}

std::shared_ptr<Discovery> InStore(std::shared_ptr<Store> store, std::string key,
                                   const DiscoveryOptions& options) {
  return std::make_shared<StoreDiscovery>(
      std::move(store),
      StoreDiscoveryOptions{
          .key = std::move(key),
          .time_to_live =
              std::clamp(options.peer_timeout, milliseconds(Store::kMinTimeToLive), kLongestLease),
          .token = options.token,
          .probe = ProbeFor(options),
          .own_names = HostNames()});
}

class Maker {
 public:
  using Made = absl::StatusOr<std::shared_ptr<Discovery>>;

  explicit Maker(const DiscoveryOptions& options) : options_(options) {}

  Made operator()(const CoordinatorAt&) const { return nullptr; }

  Made operator()(const CoordinatorInDns& place) const {
    return std::make_shared<DnsDiscovery>(place.name, ProbeFor(options_), AddressesOfName);
  }

  Made operator()(const CoordinatorInFolder& place) const {
    return InStore(std::make_shared<FileStore>(place.folder), "coordinator", options_);
  }

  Made operator()(const CoordinatorInEtcd& place) const {
    ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> credentials,
                     options_.credentials.ForChannel(place.etcd.host));
    // Not the nodes' pings: etcd ends connections that ping as often.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMinBackoffMs);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxBackoffMs);
    const std::string address = FormatHostAddress(place.etcd);
    return InStore(std::make_shared<EtcdStore>(
                       grpc::CreateCustomChannel(address, credentials, arguments), address),
                   absl::StrCat("grapevine/", place.run_key, "/coordinator"), options_);
  }

 private:
  const DiscoveryOptions& options_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<Discovery>> MakeDiscovery(const CoordinatorPlace& place,
                                                         const DiscoveryOptions& options) {
  return std::visit(Maker(options), place);
}

}  // namespace grapevine
