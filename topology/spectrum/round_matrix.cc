#include "topology/spectrum/round_matrix.h"

#include "topology/topology.h"

namespace grapevine {

Eigen::MatrixXd RoundMatrix(const Mixing& mixing, Round round) {
  const Rank n = mixing.topology().size();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
  MixingRow row;
  for (Rank i = 0; i < n; ++i) {
    mixing.Row(i, round, &row);
    matrix(i, i) = row.self;
    for (const auto& [j, weight] : row.in) matrix(i, j) = weight;
  }
  return matrix;
}

}  // namespace grapevine
