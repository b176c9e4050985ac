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
// The owner forwards events of messages, and begins the averages in order, one at a time. Messages
// of later averages may arrive before those begin here.
class Averaging {
 public:
  // Stored inline for graphs of usual degrees.
  using Terms = absl::InlinedVector<Term, 8>;

  virtual ~Averaging() = default;

  // Prepares the average for the loss of members; `latest` is that of the event Start. Must be
  // called before Start().
  virtual void MayLoseMembers(Round latest) {}
  // Begins in `round`, at `replica`. Must be called once, before everything except MayLoseMembers.
  virtual void Start(Round round, Vec replica, Host& host) = 0;
  // Shows `state` everything that is kept between rounds; see Algorithm::VisitState.
  virtual void VisitState(StateVisitor& state) {}
  // Posts what averages in rounds below `limit` can receive ahead. Called whenever a round begins
  // or the limit has moved.
  virtual void PostAhead(Round limit, Host& host) = 0;
  // Begins the next average, with this node's replica. The replica belongs to the average until
  // End; an average over all nodes may write it.
  virtual void Begin(Vec own, Host& host) = 0;

  // Errors name the message and its sender.
  virtual absl::Status On(const Received& event, Host& host) = 0;
  virtual absl::Status On(const Left& event, Host& host) = 0;
  virtual absl::Status On(const Sent& event, Host& host) = 0;
  // Handles a lost message. Only expected if the average can do without it, or has been given up.
  virtual absl::Status On(const Lost& event, Host& host) { return CheckForeseen(event); }
  // Handles an offer. Only expected if members may be lost.
  virtual absl::Status On(const Offered& event, Host& host) { return CheckForeseen(event); }

  // See Algorithm::gives_way and Algorithm::GiveUp.
  virtual bool gives_way() const { return false; }
  virtual void GiveUp(Host& host) {}
  // Returns whether every post and every send has ended, after GiveUp.
  virtual bool ended() const { return true; }
  // Releases the memory of the average, once ended() is true after GiveUp. This node's replica is
  // what it was when the average began.
  virtual void Close(Host& host) {}

  // Returns whether the average that was begun can be taken.
  virtual bool complete() const = 0;
  // Returns the average as a sum of vectors, in the order of summation that gives every driver the
  // same bits. The weights sum to 1, or the terms are this node's replica and differences to it.
  // Called once for each average. Errors say why there is none.
  virtual absl::StatusOr<Terms> Take(Host& host) = 0;
  // Returns the number of replicas in the average; 0 if that depends on the node.
  virtual Rank replicas() const { return 0; }
  // Releases the memory of the average, which has been used.
  virtual void End(Host& host) = 0;

  // Returns what has been received for later averages, mixed with `replica` so that all shares in
  // it are kept; empty if nothing is received that early. Must be the last of all calls.
  virtual Terms Settle(Vec replica, Host& host) { return {}; }

  // Returns the share that this node's replica has in the averages to come, which need not be 1
  // with push-sum. A gradient's step is divided by it.
  virtual double weight() const { return 1; }

  // Returns whether nothing is in flight, from or to this node.
  virtual bool quiet() const = 0;
  // Returns the messages that the next average still needs; with `resting`, those that a node waits
  // for after it has done all its rounds.
  virtual std::vector<Waiting> waiting(bool resting) const = 0;
  // Returns the ranks that exchange messages with this node; see Algorithm::Peers.
  virtual std::vector<Rank> Peers(Round from, Round to) const = 0;
};

// Returns a copy of `replica` in a fresh vector with this role (Host::New), for callers that keep a
// copy or write over it.
inline Vec CopyOf(Vec replica, const char* role, Host& host) {
  const Vec copy = host.New(host.replica_size(), role);
  const Term copied{1.0, host.Whole(replica)};
  host.Combine(host.Whole(copy), {&copied, 1});
  return copy;
}

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_AVERAGING_H_
