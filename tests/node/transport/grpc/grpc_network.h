// n gRPC transports in one process, each with a server on loopback.
#ifndef GRAPEVINE_TESTS_NODE_TRANSPORT_GRPC_GRPC_NETWORK_H_
#define GRAPEVINE_TESTS_NODE_TRANSPORT_GRPC_GRPC_NETWORK_H_

#include <grpcpp/server.h>

#include <memory>
#include <string>
#include <vector>

#include "node/transport/grpc/grpc_transport.h"
#include "tests/node/transport/transport_harness.h"

namespace grapevine {

inline constexpr char kTestRun[] = "test-run";

// The identity of `rank` in the tests' run.
EdgeIdentity TestIdentity(Rank rank, Rank world_size);

// A transport with its server.
class GrpcNode {
 public:
  GrpcNode(EdgeIdentity self, GrpcTransportOptions options, TransportSink* sink);
  ~GrpcNode();

  GrpcTransport& transport() { return *transport_; }
  const std::string& address() const { return address_; }

 private:
  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

class GrpcNetwork : public TransportNetwork {
 public:
  explicit GrpcNetwork(int nodes, GrpcTransportOptions options = {});

  Transport& transport(Rank rank) override { return nodes_[rank]->transport(); }
  const std::string& address(Rank rank) const { return nodes_[rank]->address(); }

 private:
  std::vector<std::unique_ptr<GrpcNode>> nodes_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_TRANSPORT_GRPC_GRPC_NETWORK_H_
