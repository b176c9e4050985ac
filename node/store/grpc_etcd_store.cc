#include "node/store/grpc_etcd_store.h"

#include <grpcpp/client_context.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;
using std::chrono::system_clock;

// The time to read a change that comes at the last moment.
constexpr std::chrono::seconds kAfterChange{1};

constexpr char kRemedy[] = "is etcd running, and is that the address that its clients dial?";

system_clock::time_point OnSystemClock(StoreDeadline deadline) {
  return system_clock::now() +
         std::chrono::duration_cast<system_clock::duration>(deadline - steady_clock::now());
}

std::optional<StoredValue> ValueOf(const etcdserverpb::RangeResponse& response) {
  if (response.kvs().empty()) return std::nullopt;
  const mvccpb::KeyValue& found = response.kvs(0);
  return StoredValue{.value = found.value(),
                     .created = found.create_revision(),
                     .modified = found.mod_revision(),
                     .lease = found.lease()};
}

void Fill(std::string_view key, std::string_view value, LeaseId lease,
          etcdserverpb::PutRequest* request) {
  request->set_key(std::string(key));
  request->set_value(std::string(value));
  request->set_lease(lease);
}

absl::Status NoLease(const std::string& name) {
  return absl::NotFoundError(absl::StrCat(name, ": the lease has gone"));
}

}  // namespace

// One request to etcd: its deadline, and the errors for its failure.
class EtcdStore::Asking {
 public:
  Asking(const std::string& name, StoreDeadline deadline) : name_(name), deadline_(deadline) {
    context_.set_deadline(OnSystemClock(deadline));
  }

  grpc::ClientContext* context() { return &context_; }
  StoreDeadline deadline() const { return deadline_; }
  // Whether the deadline may have ended the request. etcd knows the deadline too, and may report it
  // a little earlier.
  bool Over() const {
    constexpr std::chrono::milliseconds kHeadStart{50};
    return steady_clock::now() + kHeadStart >= deadline_;
  }

  absl::Status Away(std::string_view why) const {
    return StoreAway(name_, steady_clock::now() - begin_, why, kRemedy);
  }

  absl::Status Result(const grpc::Status& status) const {
    switch (status.error_code()) {
      case grpc::StatusCode::OK:
        return absl::OkStatus();
      case grpc::StatusCode::NOT_FOUND:
        return NoLease(name_);
      case grpc::StatusCode::UNKNOWN:             // etcd's report of our deadline
      case grpc::StatusCode::RESOURCE_EXHAUSTED:  // "too many requests", or no room, for now
      case grpc::StatusCode::ABORTED:
      case grpc::StatusCode::CANCELLED:
      case grpc::StatusCode::INTERNAL:
      case grpc::StatusCode::DEADLINE_EXCEEDED:
      case grpc::StatusCode::UNAVAILABLE:
        return Away(status.error_message());
      case grpc::StatusCode::UNIMPLEMENTED:
        return absl::FailedPreconditionError(
            absl::StrCat(name_, ": what answers there is not etcd with its v3 API; ", kRemedy));
      default:
        return absl::FailedPreconditionError(
            absl::StrCat(name_, " refuses: ", Printable(status.error_message(), kMostReason)));
    }
  }

 private:
  static constexpr size_t kMostReason = 300;

  const std::string& name_;
  const steady_clock::time_point begin_ = steady_clock::now();
  const StoreDeadline deadline_;
  grpc::ClientContext context_;
};

EtcdStore::EtcdStore(std::shared_ptr<grpc::Channel> channel, std::string address)
    : channel_(std::move(channel)),
      name_(absl::StrCat("etcd at ", std::move(address))),
      values_(etcdserverpb::KV::NewStub(channel_)),
      leases_(etcdserverpb::Lease::NewStub(channel_)),
      watches_(etcdserverpb::Watch::NewStub(channel_)) {}

// Waits for the connection, rather than letting the request wait: a request that was never sent has
// certainly not happened, and the reason for the missing connection can be asked for.
absl::Status EtcdStore::Connect(const Asking& asking) {
  if (channel_->WaitForConnected(OnSystemClock(asking.deadline()))) return absl::OkStatus();
  constexpr std::chrono::milliseconds kMoment{50};
  grpc::ClientContext context;  // the call fails at once, with the reason, if connecting has failed
  context.set_deadline(system_clock::now() + kMoment);
  etcdserverpb::RangeRequest request;
  request.set_key("?");
  etcdserverpb::RangeResponse response;
  const grpc::Status status = values_->Range(&context, request, &response);
  return asking.Away(status.error_code() == grpc::StatusCode::UNAVAILABLE
                         ? status.error_message()
                         : "no connection, for no reason that is known");
}

absl::StatusOr<etcdserverpb::RangeResponse> EtcdStore::Range(std::string_view key,
                                                             StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  etcdserverpb::RangeRequest request;
  request.set_key(std::string(key));
  etcdserverpb::RangeResponse response;
  RETURN_IF_ERROR(asking.Result(values_->Range(asking.context(), request, &response)));
  return response;
}

absl::StatusOr<std::optional<StoredValue>> EtcdStore::Get(std::string_view key,
                                                          StoreDeadline deadline) {
  ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse response, Range(key, deadline));
  return ValueOf(response);
}

absl::StatusOr<StoreRevision> EtcdStore::Put(std::string_view key, std::string_view value,
                                             LeaseId lease, StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  RETURN_IF_ERROR(CheckStoreValue(value));
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  etcdserverpb::PutRequest request;
  Fill(key, value, lease, &request);
  etcdserverpb::PutResponse response;
  RETURN_IF_ERROR(asking.Result(values_->Put(asking.context(), request, &response)));
  return response.header().revision();
}

absl::StatusOr<std::optional<StoreRevision>> EtcdStore::CompareAndSwap(std::string_view key,
                                                                       StoreRevision expected,
                                                                       std::string_view value,
                                                                       LeaseId lease,
                                                                       StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  RETURN_IF_ERROR(CheckStoreValue(value));
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  etcdserverpb::TxnRequest request;
  etcdserverpb::Compare& unchanged = *request.add_compare();
  unchanged.set_target(etcdserverpb::Compare::MOD);
  unchanged.set_result(etcdserverpb::Compare::EQUAL);
  unchanged.set_key(std::string(key));
  unchanged.set_mod_revision(expected);
  Fill(key, value, lease, request.add_success()->mutable_request_put());
  etcdserverpb::TxnResponse response;
  RETURN_IF_ERROR(asking.Result(values_->Txn(asking.context(), request, &response)));
  if (!response.succeeded()) return std::nullopt;
  return response.header().revision();
}

absl::StatusOr<bool> EtcdStore::Delete(std::string_view key, StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckStoreKey(key));
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  etcdserverpb::DeleteRangeRequest request;
  request.set_key(std::string(key));
  etcdserverpb::DeleteRangeResponse response;
  RETURN_IF_ERROR(asking.Result(values_->DeleteRange(asking.context(), request, &response)));
  return response.deleted() > 0;
}

absl::StatusOr<LeaseId> EtcdStore::Grant(std::chrono::milliseconds time_to_live,
                                         StoreDeadline deadline) {
  RETURN_IF_ERROR(CheckTimeToLive(time_to_live));
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  etcdserverpb::LeaseGrantRequest request;
  request.set_ttl(std::chrono::ceil<std::chrono::seconds>(time_to_live).count());
  etcdserverpb::LeaseGrantResponse response;
  RETURN_IF_ERROR(asking.Result(leases_->LeaseGrant(asking.context(), request, &response)));
  return response.id();
}

absl::Status EtcdStore::KeepAlive(LeaseId lease, StoreDeadline deadline) {
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  const auto stream = leases_->LeaseKeepAlive(asking.context());
  etcdserverpb::LeaseKeepAliveRequest request;
  request.set_id(lease);
  etcdserverpb::LeaseKeepAliveResponse response;
  const bool answered = stream->Write(request) && stream->Read(&response);
  if (answered) asking.context()->TryCancel();
  const grpc::Status status = stream->Finish();
  // Without an answer, only NOT_FOUND says that the lease has ended.
  if (!answered && status.error_code() == grpc::StatusCode::NOT_FOUND) return NoLease(name_);
  if (!answered) return asking.Away(status.ok() ? "no answer" : status.error_message());
  return response.ttl() > 0 ? absl::OkStatus() : NoLease(name_);
}

absl::Status EtcdStore::Revoke(LeaseId lease, StoreDeadline deadline) {
  Asking asking(name_, deadline);
  RETURN_IF_ERROR(Connect(asking));
  etcdserverpb::LeaseRevokeRequest request;
  request.set_id(lease);
  etcdserverpb::LeaseRevokeResponse response;
  const absl::Status status =
      asking.Result(leases_->LeaseRevoke(asking.context(), request, &response));
  return absl::IsNotFound(status) ? absl::OkStatus() : status;
}

absl::StatusOr<std::optional<StoredValue>> EtcdStore::AwaitChange(std::string_view key,
                                                                  StoreRevision known,
                                                                  StoreDeadline deadline) {
  ASSIGN_OR_RETURN(const etcdserverpb::RangeResponse now, Range(key, deadline));
  std::optional<StoredValue> value = ValueOf(now);
  if (RevisionOf(value) != known) return value;
  Asking asking(name_, deadline);
  const auto stream = watches_->Watch(asking.context());
  etcdserverpb::WatchRequest request;
  request.mutable_create_request()->set_key(std::string(key));
  request.mutable_create_request()->set_start_revision(now.header().revision() + 1);
  etcdserverpb::WatchResponse response;
  // The first response only says that the watch has begun. The next one is a change, or ends the
  // watch.
  const bool begun = stream->Write(request) && stream->Read(&response) && response.created();
  const bool changed = begun && stream->Read(&response);
  if (changed) asking.context()->TryCancel();
  const grpc::Status status = stream->Finish();
  if (changed) return Get(key, std::max(deadline, steady_clock::now() + kAfterChange));
  if (begun && asking.Over()) return value;
  return status.ok() ? asking.Away("it ended the watch") : asking.Result(status);
}

}  // namespace grapevine
