// All to one at once, as a state machine for the simulator: node i sends i
// replicas as one message to node 0.
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_BENCH_INCAST_H_
#define GRAPEVINE_BENCH_INCAST_H_

#include <vector>

#include "algorithm/algorithm.h"

namespace grapevine {

// One round: the node is at rest when its messages have left and arrived.
class Incast final : public Algorithm {
 public:
  Incast(Rank rank, Rank nodes) : rank_(rank), nodes_(nodes) {}

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return missing_ == 0 ? 1 : 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round from, Round to) const override;

 private:
  Part Replicas(Rank count, Host& host) const;

  const Rank rank_;
  const Rank nodes_;
  Rank missing_ = -1;  // messages; not begun: -1
};

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_INCAST_H_
