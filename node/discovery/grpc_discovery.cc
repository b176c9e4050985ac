#include "node/discovery/grpc_discovery.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/support/async_unary_call.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"
#include "node/discovery/dns_discovery.h"
#include "node/discovery/store_discovery.h"
#include "node/server/grpc_channel.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_health.grpc.pb.h"
#include "node/store/file_store.h"
#include "node/store/grpc_etcd_store.h"
#include "system/machine_names.h"

namespace grapevine {

namespace {

using grpc::health::v1::Health;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using std::chrono::steady_clock;
using std::chrono::system_clock;

constexpr size_t kMostReason = 200;
constexpr size_t kMostReasons = 4;

std::string Reason(const grpc::Status& status, const HealthCheckResponse& response) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return response.status() == HealthCheckResponse::SERVING ? "" : "not serving";
    case grpc::StatusCode::NOT_FOUND:
      return "a node that is not rank 0 of this run";
    case grpc::StatusCode::UNIMPLEMENTED:
      return "what answers there is not a grapevine node";
    case grpc::StatusCode::DEADLINE_EXCEEDED:
    case grpc::StatusCode::CANCELLED:
      return "no answer";
    default:
      return Printable(status.error_message(), kMostReason);
  }
}

struct Call {
  HostAddress address;
  std::unique_ptr<Health::Stub> stub;
  grpc::ClientContext context;
  HealthCheckResponse response;
  grpc::Status status;
  std::unique_ptr<grpc::ClientAsyncResponseReader<HealthCheckResponse>> reader;
};

// The calls that are under way for one ProbeQuestion, and their outcomes.
class Sweep {
 public:
  Sweep() = default;
  // Ends the calls that are under way; gRPC completes them without another thread's help.
  ~Sweep() {
    for (const std::unique_ptr<Call>& call : calls_) call->context.TryCancel();
    queue_.Shutdown();
    void* tag;
    bool ok;
    while (queue_.Next(&tag, &ok)) {
    }
  }

  void Refuse(const HostAddress& address, std::string_view why) {
    reasons_.push_back(absl::StrCat(FormatHostAddress(address), ": ", std::string(why)));
  }

  void Ask(const HostAddress& address, const std::shared_ptr<grpc::Channel>& channel,
           const std::string& service, steady_clock::time_point deadline) {
    Call& call = *calls_.emplace_back(std::make_unique<Call>());
    call.address = address;
    call.stub = Health::NewStub(channel);
    call.context.set_deadline(
        system_clock::now() +
        std::chrono::duration_cast<system_clock::duration>(deadline - steady_clock::now()));
    HealthCheckRequest request;
    request.set_service(service);
    call.reader = call.stub->AsyncCheck(&call.context, request, &queue_);
    call.reader->Finish(&call.response, &call.status, &call);
  }

  // Waits until an address answers as a coordinator, or all calls have failed; each call has its
  // deadline.
  std::optional<HostAddress> Await() {
    for (size_t answered = 0; answered < calls_.size(); ++answered) {
      void* tag = nullptr;
      bool ok = false;
      if (!queue_.Next(&tag, &ok)) break;
      const Call& call = *static_cast<const Call*>(tag);
      const std::string reason = Reason(call.status, call.response);
      if (reason.empty()) return call.address;
      Refuse(call.address, reason);
    }
    return std::nullopt;
  }

  const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  grpc::CompletionQueue queue_;  // outlives the calls
  std::vector<std::unique_ptr<Call>> calls_;
  std::vector<std::string> reasons_;
};

std::string Some(const std::vector<std::string>& reasons) {
  const size_t shown = std::min(reasons.size(), kMostReasons);
  std::string text =
      absl::StrJoin(reasons.begin(), reasons.begin() + static_cast<ptrdiff_t>(shown), ", ");
  if (shown < reasons.size()) absl::StrAppend(&text, " and ", reasons.size() - shown, " more");
  return text.empty() ? "no answer" : text;
}

class Prober {
 public:
  Prober(GrpcCredentials credentials, bool loopback_only)
      : credentials_(std::move(credentials)), loopback_only_(loopback_only) {}

  ProbeAnswer operator()(const ProbeQuestion& question, steady_clock::time_point deadline) const {
    std::vector<std::string> reasons;
    for (auto rest = question.addresses; !rest.empty();) {
      const auto some = rest.first(std::min(rest.size(), kMostProbes));
      rest = rest.subspan(some.size());
      Sweep sweep;
      for (const HostAddress& address : some) Ask(question, address, deadline, &sweep);
      if (std::optional<HostAddress> found = sweep.Await()) return {std::move(found), ""};
      reasons.insert(reasons.end(), sweep.reasons().begin(), sweep.reasons().end());
    }
    return {std::nullopt, Some(reasons)};
  }

 private:
  // Asks at `address`, if this node may connect to it.
  void Ask(const ProbeQuestion& question, const HostAddress& address,
           steady_clock::time_point deadline, Sweep* sweep) const {
    const auto channel_credentials = credentials_.ForChannel(address.host);
    if (!channel_credentials.ok()) {
      return sweep->Refuse(address, std::string(channel_credentials.status().message()));
    }
    if (loopback_only_ && !IsLoopback(address.host)) {
      return sweep->Refuse(address, "not this machine, for which a token or --insecure is needed");
    }
    grpc::ChannelArguments arguments;
    // Without a pool of its own, this question could fail on a connection of an earlier one that is
    // being torn down.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    if (!question.certified_name.empty()) {
      arguments.SetSslTargetNameOverride(question.certified_name);
    }
    RequireRank(credentials_.names(), question.rank, &arguments);
    sweep->Ask(address, DirectChannel(FormatHostAddress(address), *channel_credentials, arguments),
               question.service, deadline);
  }

  const GrpcCredentials credentials_;
  const bool loopback_only_;
};

}  // namespace

CoordinatorProbe GrpcCoordinatorProbe(GrpcCredentials credentials, bool loopback_only) {
  return Prober(std::move(credentials), loopback_only);
}

namespace {

using std::chrono::milliseconds;

// The longest time that a rank 0 that is killed and started again has to wait.
constexpr milliseconds kLongestLease{10000};
// The longest time after rank 0's death until the other nodes go on. A holder that is merely late
// to renew its lease loses nothing (moving_role.h).
constexpr milliseconds kLongestVacancy{2000};
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
          .time_to_live = std::clamp(options.peer_timeout, milliseconds(Store::kMinTimeToLive),
                                     options.role_moves ? kLongestVacancy : kLongestLease),
          .token = options.token,
          .probe = ProbeFor(options),
          .own_names = HostNames(),
          .role_moves = options.role_moves});
}

std::shared_ptr<Discovery> InFolder(const std::string& folder, const DiscoveryOptions& options) {
  return InStore(std::make_shared<FileStore>(folder), "coordinator", options);
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
    return InFolder(place.folder, options_);
  }

  Made operator()(const CoordinatorInEtcd& place) const {
    ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> credentials,
                     options_.etcd.ForChannel(place.etcd.host));
    // The channel does not ping as often as those between nodes do: etcd ends such connections.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMinBackoffMs);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxBackoffMs);
    const std::string address = FormatHostAddress(place.etcd);
    return InStore(
        std::make_shared<EtcdStore>(DirectChannel(address, credentials, arguments), address),
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

std::shared_ptr<Discovery> KeepRoleIn(const std::string& folder, const DiscoveryOptions& options) {
  return InFolder(folder, options);
}

}  // namespace grapevine
