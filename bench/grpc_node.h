// One node of a transport benchmark: a gRPC transport with a node's whole server, and a sink that
// counts.
#ifndef GRAPEVINE_BENCH_GRPC_NODE_H_
#define GRAPEVINE_BENCH_GRPC_NODE_H_

#include <memory>
#include <string>

#include "node/server/grpc_server.h"
#include "node/transport/grpc/grpc_transport.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

class BenchNode : public TransportSink {
 public:
  BenchNode(Rank rank, Rank world_size);
  ~BenchNode() override;

  const std::string& address() const { return address_; }
  Transport& transport() { return *transport_; }
  // `addresses`: of all ranks, separated by spaces.
  void Join(const std::string& addresses);

  // Waits until this many more messages are received and sent, and have left; ends the process if
  // a peer fails or nothing comes for a minute.
  void Await(int received, int sent, int left = 0);

 private:
  void OnReceived(const Received& message) override;
  void OnOffered(const Offered&) override {}
  void OnLost(Rank, Tag) override {}
  void OnLeft(Rank to, Tag tag) override;
  void OnSent(Rank to, Tag tag) override;
  void OnDeclined(Rank, Tag) override {}
  void OnPeerFailed(Rank peer, const absl::Status& why) override;

  std::unique_ptr<GrpcTransport> transport_;
  std::unique_ptr<GrpcServer> server_;
  std::string address_;
  Mutex mutex_;
  Condition changed_;
  int received_ ABSL_GUARDED_BY(mutex_) = 0;
  int sent_ ABSL_GUARDED_BY(mutex_) = 0;
  int left_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_GRPC_NODE_H_
