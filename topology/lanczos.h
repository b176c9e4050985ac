// The slowest disagreement of a large network: Lanczos on W - 11'/n.
//
// Thread-safety: pure function. Memory O(nodes + edges), no dense matrix.
#ifndef GRAPEVINE_TOPOLOGY_LANCZOS_H_
#define GRAPEVINE_TOPOLOGY_LANCZOS_H_

#include "absl/status/statusor.h"
#include "topology/mixing.h"

namespace grapevine {

struct Disagreement {
  double modulus;   // of the eigenvalue
  double residual;  // |Wv - lambda v| of its unit eigenvector
};

// The second largest modulus of the round's W, which must be symmetric: of an
// undirected graph of at least three nodes. Fails where it cannot be told from
// its neighbours.
absl::StatusOr<Disagreement> LargestDisagreement(const Mixing& mixing, Round round);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_LANCZOS_H_
