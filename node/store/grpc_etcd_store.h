// EtcdStore is a store in etcd, reached through its v3 API over gRPC.
//
// A change goes through etcd's consensus; a Get sees all changes that were acknowledged before it
// (linearizable). Times to live are whole seconds, rounded up, and no shorter than etcd allows (2 s
// by default).
#ifndef GRAPEVINE_NODE_STORE_GRPC_ETCD_STORE_H_
#define GRAPEVINE_NODE_STORE_GRPC_ETCD_STORE_H_

#include <grpcpp/channel.h>

#include <memory>
#include <string>

#include "node/store/grpc_etcd.grpc.pb.h"
#include "node/store/store.h"

namespace grapevine {

class EtcdStore final : public Store {
 public:
  // `address` is the address of the channel, for messages. The channel need not be connected yet: a
  // call waits for the connection until its deadline.
  EtcdStore(std::shared_ptr<grpc::Channel> channel, std::string address);

  const std::string& name() const override { return name_; }
  absl::StatusOr<std::optional<StoredValue>> Get(std::string_view key,
                                                 StoreDeadline deadline) override;
  absl::StatusOr<StoreRevision> Put(std::string_view key, std::string_view value, LeaseId lease,
                                    StoreDeadline deadline) override;
  absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                              StoreRevision expected,
                                                              std::string_view value, LeaseId lease,
                                                              StoreDeadline deadline) override;
  absl::StatusOr<bool> Delete(std::string_view key, StoreDeadline deadline) override;
  absl::StatusOr<LeaseId> Grant(std::chrono::milliseconds time_to_live,
                                StoreDeadline deadline) override;
  absl::Status KeepAlive(LeaseId lease, StoreDeadline deadline) override;
  absl::Status Revoke(LeaseId lease, StoreDeadline deadline) override;
  absl::StatusOr<std::optional<StoredValue>> AwaitChange(std::string_view key, StoreRevision known,
                                                         StoreDeadline deadline) override;

 private:
  class Asking;

  absl::Status Connect(const Asking& asking);
  absl::StatusOr<etcdserverpb::RangeResponse> Range(std::string_view key, StoreDeadline deadline);

  const std::shared_ptr<grpc::Channel> channel_;
  const std::string name_;
  const std::unique_ptr<etcdserverpb::KV::Stub> values_;
  const std::unique_ptr<etcdserverpb::Lease::Stub> leases_;
  const std::unique_ptr<etcdserverpb::Watch::Stub> watches_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_STORE_GRPC_ETCD_STORE_H_
