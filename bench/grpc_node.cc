#include "bench/grpc_node.h"

#include <grpcpp/server_builder.h>

#include <chrono>
#include <vector>

#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "node/server/grpc_credentials.h"
#include "node/transport/grpc/grpc_transport_options.h"

namespace grapevine {

BenchNode::BenchNode(Rank rank, Rank world_size)
    : transport_(std::make_unique<GrpcTransport>(
          EdgeIdentity{.rank = rank, .world_size = world_size}, GrpcTransportOptions{}, this)) {
  const absl::StatusOr<GrpcCredentials> credentials = GrpcCredentials::Load({});
  CHECK(credentials.ok()) << credentials.status();
  const GrpcServer::Register services[] = {[this](grpc::ServerBuilder& builder) {
    ApplyServerArguments(builder, /*loopback=*/true);
    transport_->AddTo(builder);
  }};
  absl::StatusOr<std::unique_ptr<GrpcServer>> server =
      GrpcServer::Start({}, *credentials, services);
  CHECK(server.ok()) << server.status();
  server_ = *std::move(server);
  address_ = FormatHostAddress(server_->address());
}

BenchNode::~BenchNode() {
  transport_->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now());
  transport_.reset();
  server_.reset();
}

void BenchNode::Join(const std::string& addresses) {
  transport_->Join("bench", absl::StrSplit(addresses, ' '));
}

void BenchNode::Await(int received, int sent, int left) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  MutexLock lock(mutex_);
  while (received_ < received || sent_ < sent || left_ < left) {
    CHECK(changed_.WaitUntil(mutex_, deadline)) << "nothing came";
  }
  received_ -= received;
  sent_ -= sent;
  left_ -= left;
}

void BenchNode::OnReceived(const Received&) {
  MutexLock lock(mutex_);
  ++received_;
  changed_.NotifyAll();
}

void BenchNode::OnLeft(Rank, Tag) {
  MutexLock lock(mutex_);
  ++left_;
  changed_.NotifyAll();
}

void BenchNode::OnSent(Rank, Tag) {
  MutexLock lock(mutex_);
  ++sent_;
  changed_.NotifyAll();
}

void BenchNode::OnPeerFailed(Rank, const absl::Status& why) { LOG(FATAL) << why; }

}  // namespace grapevine
