// file:PATH: an explicit mixing matrix, n lines of n entries W_i0 .. W_i(n-1).
// Entries are decimals or fractions such as 1/3, separated by blanks or commas;
// "#" and "%" begin comments.
//
// Thread-safety: pure function; the matrix is immutable.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_MATRIX_FILE_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_MATRIX_FILE_H_

#include <string_view>

#include "topology/weights/mixing.h"

namespace grapevine {

// Row and column sums may differ from 1 by this much: more would shift the mean
// of the replicas in a long run.
constexpr double kSumTolerance = 1e-9;

// Refuses, by file, line and entry: a topology that changes with the round,
// another size, entries outside [0, 1], weight between nodes that are not
// neighbours, rows or columns that do not sum to 1, W_ij != W_ji on an
// undirected graph, and weights so sparse that some node never hears of node 0.
// Errors carry Failure::kInput.
absl::StatusOr<std::shared_ptr<const Mixing>> LoadMatrixFile(
    std::string_view path, std::shared_ptr<const Topology> topology);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_MATRIX_FILE_H_
