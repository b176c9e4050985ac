// The transport of a simulated node: production's links and conversations, over the simulated
// network.
//
// Only what gRPC does in production is simulated here: streams, their ends and a monitor's ticks.
// Thread-compatible; the sink outlives it.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_TRANSPORT_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_TRANSPORT_H_

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "node/identity/authentication.h"
#include "node/transport/edge/edge_acceptor.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "node/transport/edge/wire_format.h"
#include "node/transport/transport.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/simulated_network.h"

namespace grapevine::testing {

struct SimulatedTransportOptions {
  std::chrono::milliseconds peer_timeout{30000};
  std::chrono::milliseconds connect_timeout{60000};
  int64_t chunk_bytes = 32;
  std::function<Round()> round;
  RunToken token;
};

class SimulatedTransport final : public Transport {
 public:
  // What its network knows it by.
  static constexpr char kService[] = "gossip";

  // `processes`: those of all ranks now; outlives it.
  SimulatedTransport(EdgeIdentity self, SimulatedTransportOptions options,
                     SimulatedNetwork* network, const std::vector<Process*>* processes,
                     TransportSink* sink);
  ~SimulatedTransport() override;

  // The run that this node belongs to; earlier callers have waited for it.
  void Join(std::string run_id);

  void Dial(std::span<const Rank> peers) override;
  absl::Status Send(Rank to, Tag tag, Outgoing message) override;
  absl::Status Post(Rank from, Tag tag, Incoming buffer) override;
  absl::Status Decline(Rank from, Tag tag) override;
  absl::Status Withdraw(Rank from, Tag tag) override;
  void GiveUp(Rank peer, const absl::Status& why) override;
  // As GrpcTransport's, whose process is at the same address.
  void Expect(Rank peer, uint64_t process) { newcomers_[peer] = process; }
  void TakeIn(Rank peer) override;
  TransportCounters counters() const override { return links_->counters(); }
  // The peer that it is trying to reach, and the outcome so far; empty if there is none.
  std::string Connecting() const;

  // Says goodbye on all edges; the sink receives nothing more.
  void Shutdown() override;
  // After Shutdown: whether every edge has ended.
  bool quiet() const;

 private:
  class Edge;
  class Caller;

  Process* process() const { return process_; }
  std::string Address(Rank rank) const;
  absl::Status EnsureDialled(Rank peer);
  void Receive(std::shared_ptr<Connection> connection);
  void ScheduleTick();
  void Tick();

  EdgeIdentity self_;
  const SimulatedTransportOptions options_;
  const std::chrono::milliseconds tick_;
  SimulatedNetwork* const network_;
  const std::vector<Process*>* const processes_;
  Process* const process_;
  const std::shared_ptr<SinkGate> gate_;
  const std::shared_ptr<PeerLinks> links_;
  EdgeAcceptor acceptor_;
  const std::shared_ptr<ChecksumsInFlight> checksums_;
  bool joined_ = false;
  bool left_ = false;
  int ticks_ = 0;
  std::vector<std::shared_ptr<Connection>> early_;  // came before Join
  std::map<Rank, std::shared_ptr<Edge>> edges_;
  std::map<Rank, uint64_t> newcomers_;
  std::vector<std::shared_ptr<Caller>> callers_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_TRANSPORT_H_
