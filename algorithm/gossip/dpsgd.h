// D-PSGD: decentralized parallel SGD (Lian et al. 2017, arXiv:1705.09056, Algorithm 1).
//
// Two orders of the same step:
//   AWC (adapt while communicate, the paper's): x_i' = sum_j W_ij x_j - lr u(g_i(x_i)).
//     The replica travels while the gradient is computed at it, so that a round
//     takes max(compute, communication) + mix.
//   ATC (adapt then combine): x_i' = sum_j W_ij (x_j - lr u(g_j(x_j))).
//
// A round does not end before the replicas of the previous one have left: on a changing or
// directed graph a node could otherwise run ahead of a slow receiver with ever more of them in
// memory.
//
// On a fixed graph the replicas of two rounds follow each other on one connection. Where rounds
// have different neighbours, they would share an interface, and the one of the earlier round,
// for which somebody waits, would be late. So there replicas are posted in turn, and sent once
// those of the previous round have left (docs/algorithms.md). Their receipt takes two latencies
// more, and only a node that comes to rest waits for it.
//
// The sum runs in ascending rank, the node's own replica included, so that every driver gets
// the same bits.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_DPSGD_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_DPSGD_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"

namespace grapevine {

enum class DpsgdOrder { kAwc, kAtc };

class Dpsgd final : public Algorithm {
 public:
  Dpsgd(DpsgdOrder order, AlgorithmOptions options);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return round_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  // The buffer for an in-neighbour's replica.
  struct Slot {
    Vec replica;
    bool arrived;
  };
  // The in-neighbours' replicas of one round, as far as they have arrived. Reused every
  // `window` rounds: a round allocates nothing, and recomputes nothing while the graph stays
  // the same.
  struct Inbox {
    Round round = -1;  // none yet: -1
    MixingRow row;
    std::vector<Slot> slots;  // one for each of row.in
    size_t missing = 0;
  };

  // A replica on its way.
  struct Unsent {
    SendId id;
    Round round;
    Rank to;
    bool left = false;
  };

  // Inline for usual graphs.
  using Terms = absl::InlinedVector<Term, 8>;

  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnLeft(const Left& event, Host& host);
  absl::Status OnSent(const Sent& event, Host& host);
  absl::Status OnLimit(const RoundLimit& event, Host& host);

  Inbox& InboxOf(Round round) { return inboxes_[round % options_.window]; }
  const Inbox& InboxOf(Round round) const { return inboxes_[round % options_.window]; }
  // Whether the graph and its weights are those of round `known` (-1: none).
  bool SameGraph(Round known, Round round) const;

  void PostAhead(Host& host);
  void Post(Inbox* inbox, Host& host);
  void BeginRound(Host& host);
  void ShareReplica(Host& host);
  Vec StepOverGradient(std::span<const Term> mix, Host& host);
  void AdaptBeforeCombine(Host& host);
  // Whether a replica of an earlier round has not left yet.
  bool Lagging() const;
  // The one in unsent_; an error where there is none.
  absl::StatusOr<std::vector<Unsent>::iterator> Find(SendId id);
  void EndRoundIfComplete(Host& host);
  Terms MixTerms(const Host& host) const;
  void RestIfDone(Host& host);

  const DpsgdOrder order_;
  const AlgorithmOptions options_;
  const bool changing_;  // rounds have different neighbours

  Vec replica_;  // x_i; under ATC the adapted one between gradient and mix
  Vec gradient_;
  Vec optimizer_state_;

  Round round_ = 0;
  Round limit_ = 0;
  Round posted_ = 0;  // receive buffers exist for rounds below
  std::vector<Inbox> inboxes_;
  std::vector<Rank> readers_;  // out-neighbours in readers_round_
  Round readers_round_ = -1;
  bool started_ = false;
  bool in_round_ = false;
  bool gradient_ready_ = false;
  bool share_due_ = false;      // this round's replica waits for those of the one before to leave
  std::vector<Unsent> unsent_;  // replicas that have not been received yet, in order
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_DPSGD_H_
