#include "bench/grpc_node.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "glog/logging.h"
#include "node/grpc_arguments.h"

namespace grapevine {

BenchNode::BenchNode(Rank rank, Rank world_size)
    : transport_(std::make_unique<GrpcTransport>(
          EdgeIdentity{.rank = rank, .world_size = world_size}, GrpcTransportOptions{}, this)) {
  grpc::ServerBuilder builder;
  ApplyServerArguments(builder, /*loopback=*/true);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  transport_->AddTo(builder);
  server_ = builder.BuildAndStart();
  CHECK(server_ != nullptr);
  address_ = absl::StrCat("127.0.0.1:", port);
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

void BenchNode::Await(int received, int sent) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  MutexLock lock(mutex_);
  while (received_ < received || sent_ < sent) {
    CHECK(changed_.WaitUntil(mutex_, deadline)) << "nothing came";
  }
  received_ -= received;
  sent_ -= sent;
}

void BenchNode::OnReceived(Rank, Tag) {
  MutexLock lock(mutex_);
  ++received_;
  changed_.NotifyAll();
}

void BenchNode::OnSent(Rank, Tag) {
  MutexLock lock(mutex_);
  ++sent_;
  changed_.NotifyAll();
}

void BenchNode::OnPeerFailed(Rank, const absl::Status& why) { LOG(FATAL) << why; }

}  // namespace grapevine
