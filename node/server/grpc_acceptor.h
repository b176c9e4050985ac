// Accepts the connections to a node's server, as many as the process can afford.
//
// Left to itself, gRPC accepts until the process has no descriptor left, not even for files, and
// then stops listening for good. So this accepts in its place, on a thread of its own, and hangs up
// on callers when the descriptors are nearly used up: a refused connection is tried again, whereas
// a file that cannot be opened ends the run.
//
// Thread-compatible.
#ifndef GRAPEVINE_NODE_SERVER_GRPC_ACCEPTOR_H_
#define GRAPEVINE_NODE_SERVER_GRPC_ACCEPTOR_H_

#include <grpcpp/server_builder.h>

#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "system/file_descriptor.h"

namespace grapevine {

// The sockets on which a node listens: one for each address of its host, all with the same port.
struct ListeningSockets {
  std::vector<UniqueDescriptor> descriptors;  // at least one; non-blocking
  int port = 0;
};

// Port 0: the system chooses. 0.0.0.0 and :: mean every address of this machine. A connection that
// leaves bytes unacknowledged for `timeout` is dropped. kRendezvous names the address, the system's
// reason and the remedy.
absl::StatusOr<ListeningSockets> ListenOn(const HostAddress& address,
                                          std::chrono::milliseconds timeout);

class GrpcAcceptor {
 public:
  // Adds itself to a server with these credentials. No connection keeps a descriptor numbered
  // `max_descriptors` or above.
  static absl::StatusOr<std::unique_ptr<GrpcAcceptor>> Make(
      ListeningSockets sockets, int max_descriptors, grpc::ServerBuilder& builder,
      std::shared_ptr<grpc::ServerCredentials> credentials);
  ~GrpcAcceptor() { Close(); }

  // The server is up: starts accepting. Once.
  void Open();
  // Stops accepting; before the server goes down. Idempotent.
  void Close();

  // A limit that leaves some descriptors free for files and this node's own connections, and gives
  // unauthenticated connections at most 1024 beyond four for each of `nodes`.
  static int MaxDescriptors(int nodes);

 private:
  GrpcAcceptor(ListeningSockets sockets, int max_descriptors, UniqueDescriptor stop_read,
               UniqueDescriptor stop_write);
  void Serve();
  // The outcome of an attempt to accept a connection.
  enum class Attempt { kAgain, kNobodyWaits, kNoDescriptor };
  Attempt AcceptOne(int listener);

  const ListeningSockets sockets_;
  const int most_descriptors_;
  const UniqueDescriptor stop_read_;
  UniqueDescriptor stop_write_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_SERVER_GRPC_ACCEPTOR_H_
