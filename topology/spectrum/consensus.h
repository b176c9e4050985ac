// Counts the rounds of averaging alone that bring nodes to consensus, whatever their replicas were.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_CONSENSUS_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_CONSENSUS_H_

#include <optional>

#include "base/ids.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Returns the fewest rounds r, from round 0 on, with |W_{r-1} ... W_1 W_0 - 11'/n| <= `share` in
// the spectral norm. The nodes' disagreement, the norm of all replicas' distances to their mean, is
// then at most this share of what it was. For a fixed symmetric W the condition is rho^r <= share.
// Returns nothing if more than `most` rounds are needed. The weights must be doubly stochastic and
// have a period; `share` must be in (0, 1). The first `beyond` periods are skipped; the caller must
// know that they leave more than `share`.
//
// Takes time n for each round where the eigenvalues have a formula (Mixing::Eigenvalue: all rounds
// have the same eigenvectors, which are orthogonal). Otherwise it takes n^3 for each round, or once
// for a fixed symmetric W.
std::optional<Round> RoundsToConsensus(const Mixing& mixing, double share, Round most,
                                       Round beyond = 0);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_CONSENSUS_H_
