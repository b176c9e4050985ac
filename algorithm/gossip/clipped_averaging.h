// The average of a node and its neighbours when some of them may send anything: clipped gossip (He,
// Karimireddy and Jaggi 2022, arXiv:2202.01545, algorithm 1 with a constant radius),
//
//   x_i' = x_i + sum_j W_ij clip(x_j - x_i),   clip(z) = z min(1, tau / |z|)
//
// so that no neighbour moves a node by more than W_ij tau in a round, whatever it sends. Where W is
// symmetric, what one node takes its neighbour gives: honest nodes keep their mean.
#ifndef GRAPEVINE_ALGORITHM_GOSSIP_CLIPPED_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_GOSSIP_CLIPPED_AVERAGING_H_

#include "algorithm/gossip/neighbour_averaging.h"

namespace grapevine {

class ClippedAveraging final : public NeighbourAveraging {
 public:
  // `radius`: tau, positive; the Euclidean norm of a difference of two replicas, buffers included.
  ClippedAveraging(double radius, LocalSteps steps, const AlgorithmOptions& options)
      : NeighbourAveraging(steps, options), radius_(radius) {}

  // The differences take the place of the neighbours' replicas.
  absl::StatusOr<Terms> Take(Host& host) override;

 private:
  const double radius_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_GOSSIP_CLIPPED_AVERAGING_H_
