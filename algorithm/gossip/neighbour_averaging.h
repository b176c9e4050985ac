// The average of a node and its neighbours in a graph, weighted by a row of W: the exchange of
// D-PSGD and of the methods built on it. One replica goes to each out-neighbour for each average.
//
// An average is not complete while replicas are waiting that should have left. Otherwise, on a
// changing or directed graph, a node could run ahead of a slow receiver with ever more replicas in
// memory.
//
// On a fixed graph the replicas of two averages follow each other on one connection. Where averages
// have different neighbours, the replicas of two averages would share an interface, and that of the
// earlier average, for which a node waits, would be late. There, replicas are posted in turn, and
// sent once those of earlier averages have left (docs/algorithms.md). Their receipt takes two
// latencies more, and only a node that comes to rest waits for it.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_NEIGHBOUR_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_NEIGHBOUR_AVERAGING_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "algorithm/local/averaging.h"
#include "algorithm/local/local_steps.h"

namespace grapevine {

class NeighbourAveraging : public Averaging {
 public:
  // Average `index` has the graph and the weights of round `index` of the mixing schedule, and
  // takes place in round steps.RoundOf(index) of the run. Receive buffers are posted for
  // options.window averages.
  NeighbourAveraging(LocalSteps steps, const AlgorithmOptions& options)
      : NeighbourAveraging(steps, 0, options) {}

  void Start(Round round, Vec replica, Host& host) override;
  void PostAhead(Round limit, Host& host) override;
  void Begin(Vec own, Host& host) override { Share(own, {}, host); }
  absl::Status On(const Received& event, Host& host) override;
  absl::Status On(const Left& event, Host& host) override;
  absl::Status On(const Sent& event, Host& host) override;
  // Puts this node's own replica in the place of the lost one, with its weight.
  absl::Status On(const Lost& event, Host& host) override;
  bool complete() const override { return due().missing == 0 && !Lagging(); }
  absl::StatusOr<Terms> Take(Host& host) override { return Mixture(1, host); }
  void End(Host& host) override;
  bool quiet() const override { return unsent_.empty() && missing_ == 0; }
  std::vector<Waiting> waiting(bool resting) const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

 protected:
  // The buffer for an in-neighbour's replica.
  struct Slot {
    Vec replica;
    bool arrived = false;
    double weight = 1;  // factor beside the graph's weight; 0: the replica is lost
  };
  // The in-neighbours' replicas of one average, as far as they have arrived. Inboxes are reused: an
  // average allocates nothing, and recomputes nothing while the graph stays the same.
  struct Inbox {
    int64_t index = -1;  // the average for which they were sent; -1: none yet
    MixingRow row;
    std::vector<Slot> slots;  // one for each of row.in
    size_t missing = 0;
  };

  // A replica that is sent for average i is due, i.e. averaged, `delay` averages later.
  NeighbourAveraging(LocalSteps steps, int64_t delay, const AlgorithmOptions& options);

  // Returns the average for which the replicas that are due in average `due` are sent. Nothing is
  // sent before the first average: what is due in the first `delay` averages has the graph of the
  // average in which it is due.
  int64_t SentFor(int64_t due) const { return due < delay_ ? due : due - delay_; }
  // Sends `replica` to the out-neighbours of the current average, at once or as soon as all
  // replicas that should have left have done so.
  void Share(Vec replica, const Note& note, Host& host);
  // Returns the slot of a replica that has arrived or is lost; an error if nothing was posted for
  // it.
  absl::StatusOr<Slot*> TakeIn(Rank from, const Tag& tag);

  // Returns this node's replica in the average under way.
  Vec own() const { return own_; }
  // Returns the index of the average under way, or of the next one.
  int64_t current() const { return current_; }
  // Returns the inbox of the current average.
  const Inbox& due() const { return Due(current_); }
  // Returns the inbox of average `due`, which is less than `delay` + window averages ahead.
  Inbox& Due(int64_t due) { return inboxes_[due % capacity_]; }
  const Inbox& Due(int64_t due) const { return inboxes_[due % capacity_]; }
  // Returns the tag of the replicas sent for average `index`, named by the round in which they are
  // sent.
  Tag TagOf(int64_t index) const;
  // Returns this rank's row of the current average's matrix.
  const MixingRow& row() const { return Due(current_ + delay_).row; }
  // Returns all replicas that have arrived for later averages, and `own` with `own_weight`, each
  // times its weights over the sum of all weights. The vectors belong to the caller from then on.
  Terms TakeAll(Vec own, double own_weight, Host& host);
  // Returns the terms of the current average: each neighbour's replica times its weights over
  // `total`, and the node's own replica with the rest to 1, in ascending rank.
  Terms Mixture(double total, const Host& host) const;

 private:
  // A replica on its way.
  struct Unsent {
    SendId id;
    int64_t index;  // the average for which it is sent
    Rank to;
    bool left = false;
  };

  // Fills an inbox as if all in-neighbours had sent `replica`, due in average `due`, before the
  // start.
  void FillInbox(int64_t due, Vec replica, Host& host);
  // Returns whether average `index` has the graph and the weights of average `known` (-1: none).
  bool SameGraph(int64_t known, int64_t index) const;
  // Returns the inbox of average `due`, emptied, with the row of average `index`.
  Inbox& OpenInbox(int64_t due, int64_t index);
  void Post(Inbox* inbox, Host& host);
  void SendOwn(Host& host);
  // Marks a replica that has arrived or is lost. Returns null if nothing was posted for it.
  Slot* Arrive(Rank from, const Tag& tag);
  // Returns whether some replica of an average before the last `delay` has not left.
  bool Lagging() const;
  bool late(const Unsent& unsent) const { return unsent.index < current_ - delay_ && !unsent.left; }
  // Returns the entry of unsent_ with this id; an error if none exists.
  absl::StatusOr<std::vector<Unsent>::iterator> Find(SendId id);

  const LocalSteps steps_;
  const Rank rank_;
  const std::shared_ptr<const Mixing> mixing_;
  const int64_t window_;
  const int64_t delay_;
  const int64_t capacity_;  // the number of inboxes
  const bool changing_;     // whether averages have different neighbours

  int64_t current_ = 0;
  int64_t posted_ = 0;  // receive buffers exist for averages below this one
  std::vector<Inbox> inboxes_;
  size_t missing_ = 0;         // in all inboxes
  std::vector<Rank> readers_;  // out-neighbours in average readers_of_
  int64_t readers_of_ = -1;
  Vec own_;
  Note note_;                   // the note sent with own_
  bool held_ = false;           // own_ waits for earlier replicas to leave
  std::vector<Unsent> unsent_;  // replicas that have not been received yet, in order
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_NEIGHBOUR_AVERAGING_H_
