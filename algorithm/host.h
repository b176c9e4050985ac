// The requests of an algorithm to its driver.
//
// Every call returns at once; arithmetic is requested, never done on memory, so that the same
// algorithm runs on CPU memory, on a GPU stream and on phantom vectors that only cost simulated
// time. The driver orders a request after earlier ones whose results it needs.
//
// The rules for vectors keep memory bounded and make races impossible to write:
//   - New gives an undefined vector; Drop returns it, and the driver keeps the
//     memory alive while a send, a gradient or an observer still reads it.
//   - What was sent is not written again before Sent, what Gradient reads not
//     before the whole GradientReady, what Boundary showed not at all: a new replica goes
//     to a fresh vector. The memory comes from a pool, so this costs nothing. After
//     Left, it may be posted for messages that only those can send who have received it.
//   - Nothing arrives unposted: Post is both the buffer for a message and the
//     sender's credit, hence the back-pressure. Messages between two nodes may
//     overtake each other: a tag arrives when it is posted, not when it is its turn.
//
// Every post ends in exactly one Received or Lost, every send in exactly one Sent. Between two
// nodes a tag names one message at a time in each direction: each of them may use it again once it
// has seen the end of its last use.
#ifndef GRAPEVINE_ALGORITHM_HOST_H_
#define GRAPEVINE_ALGORITHM_HOST_H_

#include <cstdint>
#include <span>

#include "algorithm/event.h"
#include "kernels/vector/vector_handle.h"

namespace grapevine {

class Host {
 public:
  virtual ~Host() = default;

  // Elements of a replica, parameters and buffers.
  virtual int64_t replica_size() const = 0;
  ReplicaRange whole_replica() const { return {0, replica_size()}; }
  Part Whole(Vec replica) const { return {replica, 0, replica_size()}; }
  // Those of its elements that formulas may touch. Behind them are the buffers (batch-norm
  // statistics), of which only convex averages may be taken.
  virtual ReplicaRange parameters() const = 0;
  // A range of the initial replica, one reference; the same on every node.
  virtual Vec InitialReplica(ReplicaRange range) = 0;

  // Elements of a live vector, of an optimizer's state, too.
  virtual int64_t SizeOf(Vec vector) const = 0;
  // `role` says in error messages what the vector is for: "a neighbour's replica". A string
  // literal: the pointer is kept.
  virtual Vec New(int64_t size, const char* role) = 0;
  // The local optimizer's state for a range, zeroed (momentum buffers, say); opaque.
  virtual Vec NewOptimizerState(ReplicaRange range) = 0;
  virtual void Drop(Vec vector) = 0;

  // The stochastic gradient of `round`'s batch at `at`, into `into`. Runs concurrently with
  // later requests; ends with a GradientReady of the whole. Before that there may be one for
  // each of `cuts` (descending, inside the vector, valid until the end), when all elements from
  // there on are final, and may be written by the algorithm.
  virtual void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) = 0;
  void Gradient(Vec at, Vec into, Round round) { Gradient(at, into, round, {}); }

  // out <- sum(terms) in the listed order, element-wise; a term may be `out`.
  virtual void Combine(Part out, std::span<const Term> terms) = 0;

  // Scales the elements down to the Euclidean norm `limit` where they are longer
  // (kernels/vector/norms.h).
  virtual void Clip(Part part, double limit) = 0;

  // The fused mix and local step.
  virtual void Step(const StepRequest& request) = 0;

  // Sends once the receiver has posted for it, which it does by itself: nothing tells it of the
  // message before. Ends with a Left and then a Sent, both with the returned id.
  virtual SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) = 0;
  SendId Send(Rank to, Tag tag, const Payload& payload) { return Send(to, tag, payload, {}); }
  // Lets `from` send one message with this tag into `into`; ends with Received. `round` is the
  // round that needs it: its bytes are counted there, and credits in turn leave in this order.
  virtual void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) = 0;
  void Post(Rank from, Tag tag, const Payload& into, Round round) {
    Post(from, tag, into, round, Credit::kAtOnce);
  }

  // Sends what the receiver may not have foreseen. Where nothing is posted for it, the receiver
  // is told (Offered) and answers; where a post is there, or on its way, this is a Send. Ends as
  // a Send does, or with only a Sent that says that it was not delivered.
  virtual SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) = 0;
  SendId Offer(Rank to, Tag tag, const Payload& payload) { return Offer(to, tag, payload, {}); }
  // Answers an Offered: this node does not want the message.
  virtual void Decline(Rank from, Tag tag) = 0;
  // Takes back a post that has not ended. It ends with Lost, or with Received where the message
  // was on its way; where an Offered was answered by it, always with Received.
  virtual void Withdraw(Rank from, Tag tag) = 0;

  // A gradient enters a model that has had `staleness` updates since the replica at which it was
  // taken; 0: none. For measurements, of algorithms whose nodes do not go through rounds together.
  virtual void GradientApplied(int64_t staleness) = 0;

  // Answers a Prepare, which only drivers whose members change raise: until the view that follows,
  // no round after `round` begins here, or, where an instance gives way (Algorithm::gives_way),
  // ends here; -1: none.
  virtual void Promise(uint32_t ballot, Round round) {}
  // Likewise: the view begins here, at this node's model; no vector of a newcomer, or of a node
  // that has none. From now on messages are exchanged with its newcomers, unless a later view
  // without them has come already. Where it is for a checkpoint (View::checkpoint), the driver has
  // the algorithm show its state during the call.
  virtual void BeginView(const View& view, Vec model) {}

  // Round `completed` is over and `model` is this node's model: metrics are taken and state can
  // be exported here. Never a barrier. A node without a whole model (a parameter server) passes
  // no vector, here and to Rest; its shard where that is evaluated (AlgorithmKind::evaluated). The
  // driver may have the algorithm show its state during the call (Algorithm::VisitState). All
  // sends of the rounds before `completed` have been requested, and none of later rounds; all that
  // those rounds receive has arrived. Where there are no rounds (HasRounds), `completed` counts the
  // node's own steps.
  virtual void Boundary(Round completed, Vec model) = 0;
  // The algorithm is at rest: it has done every round below the limit, and its peers have received
  // all its messages. `model` is final unless the limit moves. Any further event ends the rest,
  // until the algorithm says so again; without rounds it may be a peer's that asks for something.
  virtual void Rest(Vec model) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_HOST_H_
