// The mixing matrix of a round, element by element, for up to some thousands of nodes.
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_ROUND_MATRIX_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_ROUND_MATRIX_H_

#include <Eigen/Dense>

#include "base/ids.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Returns an n x n matrix. Row i has the weights with which node i takes its own replica and those
// of the other nodes.
Eigen::MatrixXd RoundMatrix(const Mixing& mixing, Round round);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_ROUND_MATRIX_H_
