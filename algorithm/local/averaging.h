// An average of the nodes' replicas, and the copy of a replica that some averages need.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_LOCAL_AVERAGING_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/host.h"

namespace grapevine {

// An average as a nested state machine: over the neighbours in a graph
// (gossip/neighbour_averaging.h) or over all nodes (averaging/allreduce_averaging.h).
//
// Its owner forwards the events of messages, and begins the averages in order, one at a time.
// Messages of later ones may arrive before they begin here.
class Averaging {
 public:
  // Inline for usual graphs.
  using Terms = absl::InlinedVector<Term, 8>;

  virtual ~Averaging() = default;

  // Where members may be lost: `latest` as Start's. Before the start.
  virtual void MayLoseMembers(Round latest) {}
  // Begins in `round`, at `replica`; once, before all else but that.
  virtual void Start(Round round, Vec replica, Host& host) = 0;
  // As Algorithm::VisitState.
  virtual void VisitState(StateVisitor& state) {}
  // Posts what averages in rounds below `limit` can receive ahead; whenever a round begins or the
  // limit has moved.
  virtual void PostAhead(Round limit, Host& host) = 0;
  // Begins the next average, with this node's replica. Until End it is the average's, and one over
  // all nodes may write it.
  virtual void Begin(Vec own, Host& host) = 0;

  // Errors name the message and its sender.
  virtual absl::Status On(const Received& event, Host& host) = 0;
  virtual absl::Status On(const Left& event, Host& host) = 0;
  virtual absl::Status On(const Sent& event, Host& host) = 0;
  // Not expected, unless the average can do without what is lost, or has been given up.
  virtual absl::Status On(const Lost& event, Host& host) { return CheckForeseen(event); }
  // Not expected, unless members may be lost.
  virtual absl::Status On(const Offered& event, Host& host) { return CheckForeseen(event); }

  // As Algorithm's.
  virtual bool gives_way() const { return false; }
  virtual void GiveUp(Host& host) {}
  // After that: every post and every send has ended.
  virtual bool ended() const { return true; }
  // And then its memory is free. This node's replica is what it was when the average began.
  virtual void Close(Host& host) {}

  // Whether the average that was begun can be taken.
  virtual bool complete() const = 0;
  // It, as a sum of vectors, in the order of summation that gives every driver the same bits.
  // Weights sum to 1, or its terms are this node's replica and differences to it. Once for each
  // average. Errors say why there is none.
  virtual absl::StatusOr<Terms> Take(Host& host) = 0;
  // Of how many replicas it is; 0 where that depends on the node.
  virtual Rank replicas() const { return 0; }
  // The average has been used; its memory is free.
  virtual void End(Host& host) = 0;

  // What has been received for averages to come, mixed with `replica`, so that all shares in it are
  // kept; empty where nothing is received so early. The last of all calls.
  virtual Terms Settle(Vec replica, Host& host) { return {}; }

  // The share that this node's replica has in the averages to come, where it need not be 1
  // (push-sum): a gradient's step is divided by it.
  virtual double weight() const { return 1; }

  // Whether nothing is in flight, from or to this node.
  virtual bool quiet() const = 0;
  // What the next average still needs; with `resting`, what a node waits for that has done all
  // its rounds.
  virtual std::vector<Waiting> waiting(bool resting) const = 0;
  // As Algorithm::Peers.
  virtual std::vector<Rank> Peers(Round from, Round to) const = 0;
};

// A copy of a replica, for those that keep one or write over it, in a fresh vector with this role
// (Host::New).
inline Vec CopyOf(Vec replica, const char* role, Host& host) {
  const Vec copy = host.New(host.replica_size(), role);
  const Term copied{1.0, host.Whole(replica)};
  host.Combine(host.Whole(copy), {&copied, 1});
  return copy;
}

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_AVERAGING_H_
