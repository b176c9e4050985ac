// MemoryTransport moves messages between the runner threads of one process.
//
// One hub joins n endpoints. Each endpoint copies what it receives on a thread of its own, straight
// from the sender's memory into the posted buffer, under the same credits and checks as the gRPC
// transport.
//
// Thread-safe. An endpoint keeps the hub alive; its sink must live until Shutdown has returned.
#ifndef GRAPEVINE_NODE_TRANSPORT_MEMORY_TRANSPORT_H_
#define GRAPEVINE_NODE_TRANSPORT_MEMORY_TRANSPORT_H_

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "node/transport/flow_control.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

class MemoryHub : public std::enable_shared_from_this<MemoryHub> {
 public:
  explicit MemoryHub(Rank size) : endpoints_(size) {}

 private:
  friend class MemoryTransport;

  struct Endpoint {
    std::shared_ptr<SinkGate> gate;  // null until the endpoint is attached
    std::deque<Rank> inbox;          // senders that have a piece ready to move
    Condition wake;
    TransportCounters counters;
    bool left = false;
  };
  // The traffic from one rank to another.
  struct Edge {
    SendQueue queue{std::numeric_limits<int64_t>::max()};
    ReceiveLedger ledger;
    absl::Status broken;     // why the sender lost the receiver
    bool scheduled = false;  // the sender is in the receiver's inbox
    uint64_t received = 0;   // messages that the receiver has received
    int landings = 0;        // pieces that are being copied
    Condition landed;
  };

  absl::Status CheckPeer(Rank self, Rank peer) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Attach(Rank rank, std::shared_ptr<SinkGate> gate);
  // Ends Deliver, after the current piece.
  void Stop(Rank rank);
  // Takes `rank` out of the run. Must be called after Stop.
  void Leave(Rank rank);
  absl::Status Send(Rank from, Rank to, Tag tag, Outgoing message);
  absl::Status Post(Rank to, Rank from, Tag tag, Incoming buffer);
  absl::Status Decline(Rank to, Rank from, Tag tag);
  absl::Status Withdraw(Rank to, Rank from, Tag tag);
  // Ends all traffic between `rank` and `peer`, for `rank`; see Transport::GiveUp.
  void GiveUp(Rank rank, Rank peer, const absl::Status& why);
  void EndLanding(Rank from, Rank to);
  // Tells the receiver that more of a message on the edge may be ready.
  void Wake(Rank from, Rank to);
  // Delivers messages to `rank` until it is stopped.
  void Deliver(Rank rank);
  TransportCounters counters(Rank rank);

  Edge& EdgeBetween(Rank from, Rank to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Schedule(Rank from, Rank to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Passes the sender's notices on to the receiver, if the receiver is attached.
  void Relay(Rank from, Rank to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits for a piece for `rank`; returns nullopt once `rank` is stopped.
  std::optional<std::pair<Rank, Piece>> NextPiece(Rank rank);
  absl::Status Move(Rank from, Rank to, const Piece& piece);
  void Acknowledge(Rank from, Rank to);
  void Break(Rank from, Rank to, const absl::Status& violation);
  void BreakFor(Rank rank, Rank peer, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Mutex mutex_;
  std::vector<Endpoint> endpoints_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<Rank, Rank>, Edge> edges_ ABSL_GUARDED_BY(mutex_);
};

class MemoryTransport : public Transport {
 public:
  // Makes the endpoint of `rank`. A hub must have at most one endpoint for each rank.
  MemoryTransport(std::shared_ptr<MemoryHub> hub, Rank rank, TransportSink* sink);
  ~MemoryTransport() override { Shutdown(); }

  void Dial(std::span<const Rank> peers) override {}
  absl::Status Send(Rank to, Tag tag, Outgoing message) override;
  absl::Status Post(Rank from, Tag tag, Incoming buffer) override;
  absl::Status Decline(Rank from, Tag tag) override;
  absl::Status Withdraw(Rank from, Tag tag) override;
  void GiveUp(Rank peer, const absl::Status& why) override { hub_->GiveUp(rank_, peer, why); }
  TransportCounters counters() const override { return hub_->counters(rank_); }
  void Shutdown() override;

 private:
  std::shared_ptr<MemoryHub> hub_;
  Rank rank_;
  std::shared_ptr<SinkGate> gate_;
  Mutex shutdown_;
  std::thread thread_ ABSL_GUARDED_BY(shutdown_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_MEMORY_TRANSPORT_H_
