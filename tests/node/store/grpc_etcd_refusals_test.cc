// What an etcd says that is there and does not do as it is asked: played by a server of the test.
#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/server_builder.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "node/store/grpc_etcd_store.h"
#include "tests/node/store/in_time.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

class Leases final : public etcdserverpb::Lease::Service {
 public:
  grpc::Status says;

 private:
  grpc::Status LeaseKeepAlive(
      grpc::ServerContext*,
      grpc::ServerReaderWriter<etcdserverpb::LeaseKeepAliveResponse,
                               etcdserverpb::LeaseKeepAliveRequest>*) override {
    return says;
  }
  grpc::Status LeaseGrant(grpc::ServerContext*, const etcdserverpb::LeaseGrantRequest*,
                          etcdserverpb::LeaseGrantResponse*) override {
    return says;
  }
};

class EtcdRefusals : public ::testing::Test {
 protected:
  EtcdRefusals() {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterService(&leases_);
    server_ = builder.BuildAndStart();
    const std::string address = absl::StrCat("127.0.0.1:", port);
    store_ = std::make_unique<EtcdStore>(
        grpc::CreateChannel(address, grpc::InsecureChannelCredentials()), address);
  }

  Leases leases_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<EtcdStore> store_;
};

TEST_F(EtcdRefusals, OnlyThatThereIsNoSuchLeaseIsItsEnd) {
  using enum grpc::StatusCode;
  for (const grpc::StatusCode code :
       {RESOURCE_EXHAUSTED, UNAVAILABLE, UNKNOWN, ABORTED, CANCELLED, INTERNAL, PERMISSION_DENIED,
        UNAUTHENTICATED, FAILED_PRECONDITION, DEADLINE_EXCEEDED}) {
    leases_.says = grpc::Status(code, "etcdserver: too many requests");
    const absl::Status kept = store_->KeepAlive(17, InTime());
    EXPECT_TRUE(absl::IsUnavailable(kept)) << kept;
    EXPECT_THAT(std::string(kept.message()), HasSubstr("etcdserver: too many requests"));
  }
  leases_.says = grpc::Status(NOT_FOUND, "etcdserver: requested lease not found");
  EXPECT_TRUE(absl::IsNotFound(store_->KeepAlive(17, InTime())));
}

TEST_F(EtcdRefusals, WhatMayPassIsAskedAgainAndWhatIsForbiddenIsNot) {
  leases_.says =
      grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "etcdserver: too many requests");
  EXPECT_TRUE(absl::IsUnavailable(store_->Grant(Store::kMinTimeToLive, InTime()).status()));
  leases_.says = grpc::Status(grpc::StatusCode::PERMISSION_DENIED, "etcdserver: permission denied");
  const absl::Status refused = store_->Grant(Store::kMinTimeToLive, InTime()).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(refused)) << refused;
  EXPECT_THAT(std::string(refused.message()), HasSubstr("permission denied"));
}

}  // namespace
}  // namespace grapevine
