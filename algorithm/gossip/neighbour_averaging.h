// The average of a node and its neighbours in a graph, weighted by a row of W: the exchange of
// D-PSGD and of what is built on it. One replica goes to each out-neighbour for each average.
//
// An average is not complete while replicas wait that should have left: on a changing or directed
// graph a node could otherwise run ahead of a slow receiver with ever more of them in memory.
//
// On a fixed graph the replicas of two averages follow each other on one connection. Where
// averages have different neighbours, they would share an interface, and the one of the earlier
// average, for which somebody waits, would be late. So there replicas are posted in turn, and sent
// once those of earlier averages have left (docs/algorithms.md). Their receipt takes two latencies
// more, and only a node that comes to rest waits for it.
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
  // takes place in round steps.RoundOf(index) of the run. Posts for options.window averages.
  NeighbourAveraging(LocalSteps steps, const AlgorithmOptions& options)
      : NeighbourAveraging(steps, 0, options) {}

  void Start(Round round, Vec replica, Host& host) override;
  void PostAhead(Round limit, Host& host) override;
  void Begin(Vec own, Host& host) override { Share(own, {}, host); }
  absl::Status On(const Received& event, Host& host) override;
  absl::Status On(const Left& event, Host& host) override;
  absl::Status On(const Sent& event, Host& host) override;
  // The own replica takes the place of a lost one: its weight goes to that.
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
    double weight = 1;  // of the replica in the sum, beside that of the graph; 0: it is lost
  };
  // The in-neighbours' replicas of one average, as far as they have arrived. Reused: an average
  // allocates nothing, and recomputes nothing while the graph stays the same.
  struct Inbox {
    int64_t index = -1;  // of the average for which they were sent; none yet: -1
    MixingRow row;
    std::vector<Slot> slots;  // one for each of row.in
    size_t missing = 0;
  };

  // What is sent for average i is due, which is to say averaged, `delay` later.
  NeighbourAveraging(LocalSteps steps, int64_t delay, const AlgorithmOptions& options);

  // The average for which is sent what is due in `due`. Before the first one nothing is sent: what
  // is then due has the graph of its own average.
  int64_t SentFor(int64_t due) const { return due < delay_ ? due : due - delay_; }
  // Sends `replica` to the out-neighbours of the current average, or as soon as those that should
  // have left have done so.
  void Share(Vec replica, const Note& note, Host& host);
  // The slot of what has arrived, or is lost; an error if nothing was posted for it.
  absl::StatusOr<Slot*> TakeIn(Rank from, const Tag& tag);

  // This node's replica in the average under way.
  Vec own() const { return own_; }
  // The average under way, or the next one.
  int64_t current() const { return current_; }
  // What is due in the current average.
  const Inbox& due() const { return Due(current_); }
  // At most `delay` + window averages ahead.
  Inbox& Due(int64_t due) { return inboxes_[due % capacity_]; }
  const Inbox& Due(int64_t due) const { return inboxes_[due % capacity_]; }
  // Names a replica by the round in which it is sent.
  Tag TagOf(int64_t index) const;
  // This rank's row of the current average's matrix.
  const MixingRow& row() const { return Due(current_ + delay_).row; }
  // All that has arrived for averages to come, and `own` with `own_weight`: each times its weights
  // over the sum of all. The vectors are the caller's then.
  Terms TakeAll(Vec own, double own_weight, Host& host);
  // What is due: each neighbour's replica times its weights over `total`, the node's own with the
  // rest to 1, in ascending rank.
  Terms Mixture(double total, const Host& host) const;

 private:
  // A replica on its way.
  struct Unsent {
    SendId id;
    int64_t index;  // of its average
    Rank to;
    bool left = false;
  };

  // As if all in-neighbours had sent `replica` before the start, due in average `due`.
  void FillInbox(int64_t due, Vec replica, Host& host);
  // Whether the graph and its weights are those of average `known` (-1: none).
  bool SameGraph(int64_t known, int64_t index) const;
  // The inbox of what is due in `due`, with the row of average `index`.
  Inbox& OpenInbox(int64_t due, int64_t index);
  void Post(Inbox* inbox, Host& host);
  void SendOwn(Host& host);
  // Marks what has arrived, or is lost; null if nothing was posted for it.
  Slot* Arrive(Rank from, const Tag& tag);
  // Whether a replica of an average before the last `delay` has not left.
  bool Lagging() const;
  bool late(const Unsent& unsent) const { return unsent.index < current_ - delay_ && !unsent.left; }
  // The one in unsent_; an error where there is none.
  absl::StatusOr<std::vector<Unsent>::iterator> Find(SendId id);

  const LocalSteps steps_;
  const Rank rank_;
  const std::shared_ptr<const Mixing> mixing_;
  const int64_t window_;
  const int64_t delay_;
  const int64_t capacity_;  // of inboxes_
  const bool changing_;     // averages have different neighbours

  int64_t current_ = 0;
  int64_t posted_ = 0;  // receive buffers exist for those below
  std::vector<Inbox> inboxes_;
  size_t missing_ = 0;         // in all of them
  std::vector<Rank> readers_;  // out-neighbours in average readers_of_
  int64_t readers_of_ = -1;
  Vec own_;
  Note note_;                   // of the own replica
  bool held_ = false;           // the own one waits for earlier ones to leave
  std::vector<Unsent> unsent_;  // replicas that have not been received yet, in order
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_NEIGHBOUR_AVERAGING_H_
