// AD-PSGD: asynchronous decentralized parallel SGD (Lian et al. 2018, arXiv:1710.06952), in which
// nobody waits for a slow node.
//
// A node computes gradients one after another, each at its replica as it is then, and applies each
// to its replica as that is when the gradient is ready. After every few steps it averages with one
// neighbour, drawn at random: it offers its share a = x_i; the neighbour answers with its own,
// b = x_j, and moves to (x_j + a) / 2 at once; this node moves by (b - a) / 2 when b is there,
// wherever x_i is by then. The two moves are opposite, so the mean over all nodes is kept as if the
// average were atomic, without locks: a node that has begun one takes part in others meanwhile, and
// there is no cycle of waits on any graph. (The paper takes locks, and bipartite graphs so that
// these cannot form one.)
//
// Two nodes that ask each other at the same time would move twice, and trade replicas rather than
// meet. So the higher rank declines while its own share is with the other, and the average that it
// has begun is that of both: the lower rank begins no other before it is over.
//
// A node has one average of its own under way, while the next gradient is computed; a step after
// which the next one is due waits for it. It takes part in two of others at a time. Their further
// offers wait in a queue, bounded by the neighbours, each of which has one under way: so memory
// does not depend on the graph.
//
// Nobody counts the steps of all, which say where in the run, and so in the schedule of the
// learning rate, they are: its nominal round. Nodes average that as they do their replicas. Each
// adds 1 with its own step, and the mean stays that of their steps.
//
// Staleness counts the averages that moved the replica while a gradient was computed at it.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_ADPSGD_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_ADPSGD_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/local/own_step.h"

namespace grapevine {

class Adpsgd final : public Algorithm {
 public:
  // Averages after every `every` steps, at least 1. The graph is undirected and does not change.
  Adpsgd(Round every, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return steps_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override { return neighbours_; }

 private:
  // An average that this node has begun.
  struct Own {
    Rank partner;
    int64_t index;
    Vec share;              // a; the replica until that moves
    Vec answer;             // the buffer for b
    double nominal;         // of the share
    SendId send;            // of the share
    bool received = false;  // b is there, and in the replica
    bool sent = false;
    bool declined = false;  // the post for b is being withdrawn
  };
  // One that a neighbour has begun: first its share is awaited, in a buffer, then the receipt of
  // the answer.
  struct Foreign {
    Rank from;
    int64_t index;
    Vec buffer;   // none any more: the answer is on its way
    SendId send;  // of the answer
  };
  struct Asked {
    Rank from;
    int64_t index;

    friend bool operator==(const Asked&, const Asked&) = default;
  };

  absl::Status OnOffered(const Offered& event);
  absl::Status CheckNominal(Rank from, double nominal) const;
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  absl::Status OnDeclined(Host& host);
  absl::Status OnLost(const Lost& event, Host& host);

  // Does all that can be done now.
  void Advance(Host& host);
  void BeginAverage(Host& host);
  // `nominal`: of the share or answer that has come.
  void Answer(Foreign* average, double nominal, Host& host);
  void EndOwn(double nominal, Host& host);
  // Whether the neighbour's average is that which this node has begun with it.
  bool Crosses(Rank from) const;
  // Whether one that it has joined is under way.
  bool Joins() const;
  // The replica moves to a combination of it and others, in a fresh vector.
  void Move(std::span<const Term> terms, Host& host);
  void Replace(Vec replica, Host& host);
  void SetNominal(double nominal);
  Round NominalRound() const;
  // Whether a share of this neighbour is awaited, or its offer has not been answered.
  bool Awaits(Rank from) const;

  const Round every_;
  const AlgorithmOptions options_;
  const double furthest_;         // nominal round, either way
  std::vector<Rank> neighbours_;  // ascending

  Vec replica_;
  Vec gradient_;  // while it is computed
  OwnStep step_;
  Round steps_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool due_ = false;               // an average of its own
  int64_t begun_ = 0;              // averages of its own
  int64_t moves_ = 0;              // averages that have moved the replica
  int64_t moves_at_gradient_ = 0;  // when it was begun
  double nominal_ = 0;             // round
  std::optional<Own> own_;
  std::optional<Asked> joined_;  // the neighbour's, for which it declined the last one
  std::vector<Foreign> foreign_;
  std::deque<Asked> asked_;
  std::map<Rank, int64_t> last_;  // average that each neighbour has begun
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_ADPSGD_H_
