// The replicas that a node exchanges with its neighbours, one to each out-neighbour in a round:
// what gossip algorithms have in common.
//
// It posts for what the in-neighbours send, sends, and knows what has arrived, left and been
// received; what is sent, and what becomes of what has arrived, is up to the algorithm that
// embeds it.
//
// A round does not end while replicas wait that should have left (Lagging): on a changing or
// directed graph a node could otherwise run ahead of a slow receiver with ever more of them in
// memory.
//
// On a fixed graph the replicas of two rounds follow each other on one connection. Where rounds
// have different neighbours, they would share an interface, and the one of the earlier round,
// for which somebody waits, would be late. So there replicas are posted in turn, and sent once
// those of earlier rounds have left (docs/algorithms.md). Their receipt takes two latencies
// more, and only a node that comes to rest waits for it.
//
// Thread-compatible: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_REPLICA_EXCHANGE_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_REPLICA_EXCHANGE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"

namespace grapevine {

inline Part Whole(Vec replica, const Host& host) { return {replica, 0, host.replica_size()}; }

class ReplicaExchange {
 public:
  // Inline for usual graphs.
  using Terms = absl::InlinedVector<Term, 8>;

  // The buffer for an in-neighbour's replica.
  struct Slot {
    Vec replica;
    bool arrived = false;
    double weight = 1;  // of the replica in the sum, beside that of the graph
  };
  // The in-neighbours' replicas of one round, as far as they have arrived. Reused: a round
  // allocates nothing, and recomputes nothing while the graph stays the same.
  struct Inbox {
    Round round = -1;  // none yet: -1
    MixingRow row;
    std::vector<Slot> slots;  // one for each of row.in
    size_t missing = 0;
  };

  // Replicas of round r are due, which is to say mixed, in round r + delay.
  ReplicaExchange(const AlgorithmOptions& options, Round delay);

  // Posts for the replicas that are sent before `limit`, from `round` on as far ahead as the
  // window goes. Called at the beginning of each round, and when the limit has moved.
  void PostAhead(Round round, Round limit, Host& host);
  // As if all in-neighbours had sent `replica` before the run, due in round `due`, which is below
  // the delay. Called in ascending order, before all else.
  Inbox& FillInbox(Round due, Vec replica, Host& host);

  // Sends `replica` to the out-neighbours of the current round, or as soon as those that should
  // have left have done so.
  void Share(Vec replica, const Note& note, Host& host);

  // The slot of what has arrived; an error if nothing was posted for it.
  absl::StatusOr<Slot*> OnReceived(const Received& event);
  // Errors if no such replica is on its way.
  absl::Status OnLeft(SendId id, Host& host);
  absl::Status OnSent(SendId id);

  // Whether a replica of a round before the last `delay` has not left.
  bool Lagging() const;
  // Whether all that is due in the current round is there.
  bool complete() const { return Due(round_).missing == 0; }
  // Whether nothing is in flight, from or to this node.
  bool quiet() const { return unsent_.empty() && missing_ == 0; }

  // What is due in the current round.
  const Inbox& due() const { return Due(round_); }
  // Row `rank` of the current round's matrix.
  const MixingRow& row() const { return Due(round_ + delay_).row; }
  // The mixture that is due: each neighbour's replica times its weights over `total`, the node's
  // own replica with the rest to 1, in ascending rank, so that every driver gets the same bits.
  Terms Mixture(Vec own, double total, const Host& host) const;
  // Returns what was due in the current round.
  void DropDue(Host& host);

  // What the current round waits for; with `resting`, what a node waits for that has done all
  // its rounds.
  std::vector<Waiting> waiting(bool resting) const;
  // As Algorithm::Peers.
  std::vector<Rank> Peers(Round from, Round to) const;

 private:
  // A replica on its way.
  struct Unsent {
    SendId id;
    Round round;
    Rank to;
    bool left = false;
  };
  // This round's, which waits for earlier ones to leave.
  struct Held {
    Vec replica;
    Note note;
  };

  Inbox& Due(Round due) { return inboxes_[due % capacity_]; }
  const Inbox& Due(Round due) const { return inboxes_[due % capacity_]; }
  // Whether the graph and its weights are those of round `known` (-1: none).
  bool SameGraph(Round known, Round round) const;
  // The inbox of what is due in `due`, with the row of `round`.
  Inbox& OpenInbox(Round due, Round round);
  void Post(Inbox* inbox, Host& host);
  bool late(const Unsent& unsent) const { return unsent.round < round_ - delay_ && !unsent.left; }
  // The one in unsent_; an error where there is none.
  absl::StatusOr<std::vector<Unsent>::iterator> Find(SendId id);

  const Rank rank_;
  const std::shared_ptr<const Mixing> mixing_;
  const Round window_;
  const Round delay_;
  const Round capacity_;  // of inboxes_
  const bool changing_;   // rounds have different neighbours

  Round round_ = 0;
  Round posted_ = 0;  // receive buffers exist for rounds below
  std::vector<Inbox> inboxes_;
  size_t missing_ = 0;         // in all of them
  std::vector<Rank> readers_;  // out-neighbours in readers_round_
  Round readers_round_ = -1;
  std::optional<Held> held_;
  std::vector<Unsent> unsent_;  // replicas that have not been received yet, in order
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_REPLICA_EXCHANGE_H_
