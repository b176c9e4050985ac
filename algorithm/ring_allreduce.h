// Ring allreduce: reduce-scatter then all-gather around a ring (Patarasuk and
// Yuan 2009). 2(n-1) steps of M/n bytes each: 2(n-1) alpha + 2 (n-1)/n M beta.
//
// Chunk c covers the elements [c S/n, (c+1) S/n) of S, so any n and any S do.
// Reduce-scatter step s: rank r sends chunk r-s to r+1 and adds its own values
// to what comes from r-1 for chunk r-s-1. All-gather step s: rank r sends chunk
// r+1-s and receives chunk r-s in its place.
#ifndef GRAPEVINE_ALGORITHM_RING_ALLREDUCE_H_
#define GRAPEVINE_ALGORITHM_RING_ALLREDUCE_H_

#include <set>
#include <vector>

#include "algorithm/collective.h"

namespace grapevine {

class RingAllreduce final : public Collective {
 public:
  // `channel` keeps its messages apart from those of its owner.
  RingAllreduce(Rank rank, Rank size, uint16_t channel);

  void Prepare(Host& host) override;
  void Begin(Vec data, Host& host) override;
  absl::Status On(const Received& event, Host& host) override;
  absl::Status On(const Sent& event, Host& host) override;
  bool summed() const override { return absorbed_ == steps(); }
  bool idle() const override { return summed() && unsent_ == 0; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers() const override;

 private:
  Rank left() const { return (rank_ + size_ - 1) % size_; }
  Rank right() const { return (rank_ + 1) % size_; }
  int reduce_steps() const { return size_ - 1; }
  int steps() const { return 2 * (size_ - 1); }
  // The chunk sent (received) in a step of 0 .. 2n-3.
  Rank SentChunk(int step) const;
  Rank ReceivedChunk(int step) const { return (SentChunk(step) + size_ - 1) % size_; }
  Part Chunk(Vec vector, Rank chunk, const Host& host) const;
  Tag StepTag(Round sum, int step) const;
  void PostReduceSteps(Round sum, Host& host);
  void SendStep(int step, Host& host);
  void AbsorbArrived(Host& host);
  void Absorb(Host& host);

  const Rank rank_;
  const Rank size_;
  const uint16_t channel_;

  Vec data_;
  Vec scratch_;            // what the reduce-scatter receives
  Round sum_ = -1;         // the sum begun last; counted from 0, also in tags
  int absorbed_;           // steps of it whose message was taken in
  std::set<Tag> arrived_;  // messages that wait for their turn, of the next sum too
  int unsent_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_RING_ALLREDUCE_H_
