// The requests of an algorithm to its driver.
//
// Every call returns at once; arithmetic is requested, never done on memory, so that the same
// algorithm runs on CPU memory, on a GPU stream and on phantom vectors that only cost simulated
// time. The driver orders a request after earlier ones whose results it needs.
//
// The rules for vectors keep memory bounded and make races impossible to write:
//   - New gives an undefined vector; Drop returns it, and the driver keeps the memory alive while a
//     send, a gradient or an observer still reads it.
//   - A vector that was sent is not written again before Sent, one that Gradient reads not before
//     the whole GradientReady, and one that Boundary showed not at all: a new replica goes to a
//     fresh vector. The memory comes from a pool, so this costs nothing. After Left, a vector may
//     be posted for messages that only nodes which have received it can send.
//   - Nothing arrives unposted: Post is both the buffer for a message and the sender's credit,
//     hence the back-pressure. Messages between two nodes may overtake each other: a message
//     arrives when it is posted, not in its turn.
//
// Every post ends in exactly one Received or Lost, every send in exactly one Sent. Between two
// nodes a tag names one message at a time in each direction: each node may use a tag again once it
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

  // Returns the number of elements of a replica, parameters and buffers together.
  virtual int64_t replica_size() const = 0;
  ReplicaRange whole_replica() const { return {0, replica_size()}; }
  Part Whole(Vec replica) const { return {replica, 0, replica_size()}; }
  // Returns the range of a replica's elements that formulas may touch. Behind them are the buffers
  // (batch-norm statistics), of which only convex averages may be taken.
  virtual ReplicaRange parameters() const = 0;
  // Returns a range of the initial replica, with one reference to it; the same on every node.
  virtual Vec InitialReplica(ReplicaRange range) = 0;

  // Returns the number of elements of a live vector, which may be an optimizer's state.
  virtual int64_t SizeOf(Vec vector) const = 0;
  // Returns a new, undefined vector. `role` says in error messages what the vector is for, such as
  // "a neighbour's replica". It must be a string literal: the pointer is kept.
  virtual Vec New(int64_t size, const char* role) = 0;
  // Returns a zeroed state of the local optimizer for a range (momentum buffers, say); opaque.
  virtual Vec NewOptimizerState(ReplicaRange range) = 0;
  virtual void Drop(Vec vector) = 0;

  // Computes the stochastic gradient of `round`'s batch at `at`, into `into`. Runs concurrently
  // with later requests; ends with a GradientReady of the whole. Before that, one may come for each
  // of `cuts` (descending, inside the vector, valid until the end), when all elements from the cut
  // on are final and may be written by the algorithm.
  virtual void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) = 0;
  void Gradient(Vec at, Vec into, Round round) { Gradient(at, into, round, {}); }

  // Computes out <- sum(terms) in the listed order, element-wise; a term may be `out`.
  virtual void Combine(Part out, std::span<const Term> terms) = 0;

  // Scales the elements of `part` down to the Euclidean norm `limit` if their norm is larger
  // (kernels/vector/norms.h).
  virtual void Clip(Part part, double limit) = 0;

  // Carries out the fused mix and local step.
  virtual void Step(const StepRequest& request) = 0;

  // Sends a message once the receiver has posted for it. The receiver does so by itself: nothing
  // tells it of the message before. Ends with a Left and then a Sent, both with the returned id.
  virtual SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) = 0;
  SendId Send(Rank to, Tag tag, const Payload& payload) { return Send(to, tag, payload, {}); }
  // Lets `from` send one message with this tag into `into`; ends with Received. `round` is the
  // round that needs the message: its bytes are counted there, and credits in turn leave in this
  // order.
  virtual void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) = 0;
  void Post(Rank from, Tag tag, const Payload& into, Round round) {
    Post(from, tag, into, round, Credit::kAtOnce);
  }

  // Sends a message that the receiver may not have foreseen. If nothing is posted for the message,
  // the receiver is told (Offered) and answers; if a post exists or is on its way, this is a Send.
  // Ends as a Send does, or with only a Sent that says that the message was not delivered.
  virtual SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) = 0;
  SendId Offer(Rank to, Tag tag, const Payload& payload) { return Offer(to, tag, payload, {}); }
  // Answers an Offered: this node does not want the message.
  virtual void Decline(Rank from, Tag tag) = 0;
  // Takes back a post that has not ended. The post ends with Lost, or with Received if the message
  // was on its way. A post that answers an Offered always ends with Received.
  virtual void Withdraw(Rank from, Tag tag) = 0;

  // Reports that a gradient enters a model that has had `staleness` updates since the replica at
  // which the gradient was taken; 0: none. For measurements of algorithms whose nodes do not go
  // through rounds together.
  virtual void GradientApplied(int64_t staleness) = 0;

  // Answers a Prepare, which only drivers whose members change raise. Until the view that follows,
  // no round after `round` begins here or, if the instance gives way (Algorithm::gives_way), ends
  // here; -1: no round at all.
  virtual void Promise(uint32_t ballot, Round round) {}
  // Reports that the view begins here, with `model` as this node's model; no vector for a newcomer,
  // or for a node that has no model. Only with drivers whose members change. From this call on,
  // messages are exchanged with the view's newcomers, unless a later view without them has come
  // already. If the view is for a checkpoint (View::checkpoint), the driver has the algorithm show
  // its state during the call.
  virtual void BeginView(const View& view, Vec model) {}

  // Reports that `completed` rounds are over and that `model` is this node's model: metrics are
  // taken and state can be exported here. Never a barrier. A node without a whole model (a
  // parameter server) passes no vector, here and to Rest, or its shard where that is evaluated
  // (AlgorithmKind::evaluated). The driver may have the algorithm show its state during the call
  // (Algorithm::VisitState). All sends of the rounds before `completed` have been requested, and
  // none of later rounds; everything that the rounds before `completed` receive has arrived. Where
  // nodes do not go through rounds together (HasRounds), `completed` counts the node's own steps.
  virtual void Boundary(Round completed, Vec model) = 0;
  // Reports that the algorithm is at rest: it has done every round below the limit, and its peers
  // have received all its messages. `model` is final unless the limit moves. Any further event ends
  // the rest, until the algorithm reports it again; without rounds, that event may be a peer's
  // request.
  virtual void Rest(Vec model) = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_HOST_H_
