// How many rounds of averaging alone bring nodes to consensus, whatever their replicas were.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_CONSENSUS_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_CONSENSUS_H_

#include <optional>

#include "base/ids.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// The fewest rounds r, from round 0 on, with |W_{r-1} ... W_1 W_0 - 11'/n| <= `share` in the
// spectral norm: the nodes' disagreement, the norm of all replicas' distances to their mean, is
// then at most this share of what it was. For a fixed symmetric W that is rho^r <= share. None if
// more than `most` rounds are needed. The weights are doubly stochastic and have a period; `share`
// is in (0, 1). The first `beyond` periods, of which the caller knows that they leave more, are
// skipped.
//
// Takes time n for each round where the eigenvalues have a formula (Mixing::Eigenvalue: all rounds
// have the same eigenvectors, which are orthogonal); otherwise n^3, for a fixed symmetric W once.
std::optional<Round> RoundsToConsensus(const Mixing& mixing, double share, Round most,
                                       Round beyond = 0);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_CONSENSUS_H_
