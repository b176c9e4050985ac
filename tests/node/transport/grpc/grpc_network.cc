#include "tests/node/transport/grpc/grpc_network.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "glog/logging.h"
#include "node/transport/grpc/grpc_transport_options.h"

namespace grapevine {

EdgeIdentity TestIdentity(Rank rank, Rank world_size) {
  return {.run_id = kTestRun,
          .rank = rank,
          .world_size = world_size,
          .schema = "schema",
          .topology = "ring",
          .algorithm = "dpsgd"};
}

GrpcNode::GrpcNode(EdgeIdentity self, GrpcTransportOptions options, TransportSink* sink)
    : transport_(std::make_unique<GrpcTransport>(std::move(self), std::move(options), sink)) {
  grpc::ServerBuilder builder;
  ApplyServerArguments(builder, /*loopback=*/true);
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  transport_->AddTo(builder);
  server_ = builder.BuildAndStart();
  CHECK(server_ != nullptr);
  address_ = absl::StrCat("127.0.0.1:", port);
}

GrpcNode::~GrpcNode() {
  transport_->Shutdown();
  server_->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  transport_.reset();
  server_.reset();
}

GrpcNetwork::GrpcNetwork(int nodes, GrpcTransportOptions options) : TransportNetwork(nodes) {
  std::vector<std::string> addresses;
  for (Rank rank = 0; rank < nodes; ++rank) {
    nodes_.push_back(std::make_unique<GrpcNode>(TestIdentity(rank, nodes), options, &sink(rank)));
    addresses.push_back(nodes_.back()->address());
  }
  for (const auto& node : nodes_) node->transport().Join(kTestRun, addresses);
}

}  // namespace grapevine
