// The slowest disagreement of a large network: Lanczos on W - 11'/n.
//
// Thread-safety: pure function. Memory O(nodes + edges), no dense matrix.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_LANCZOS_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_LANCZOS_H_

#include "absl/status/statusor.h"
#include "topology/weights/mixing.h"

namespace grapevine {

struct Disagreement {
  double modulus;   // of the eigenvalue
  double residual;  // |Wv - lambda v| of its unit eigenvector
};

// The second largest modulus of the round's W over at least three nodes. The
// residual is small (1e-8) unless the gap is below about 1e-5, where the search
// ends early with what it has. Refuses directed graphs: their W is not symmetric.
absl::StatusOr<Disagreement> LargestDisagreement(const Mixing& mixing, Round round);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_LANCZOS_H_
