#include "topology/spectrum/consensus.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "topology/topology.h"

namespace grapevine {
namespace {

using Matrix = Eigen::MatrixXd;

Matrix MatrixOf(const Mixing& mixing, Round round) {
  const Rank n = mixing.topology().size();
  Matrix matrix = Matrix::Zero(n, n);
  MixingRow row;
  for (Rank i = 0; i < n; ++i) {
    mixing.Row(i, round, &row);
    matrix(i, i) = row.self;
    for (const auto& [j, weight] : row.in) matrix(i, j) = weight;
  }
  return matrix;
}

// What rounding adds to a product that averages exactly.
constexpr double kRounding = 1e-12;

// The spectral norm is at most Frobenius' and at least the nth part of its square, which decides
// most rounds without eigenvalues.
bool NormIsWithin(const Matrix& matrix, double bound) {
  const double frobenius = matrix.norm();
  if (frobenius <= bound) return true;
  if (frobenius > bound * std::sqrt(static_cast<double>(matrix.rows()))) return false;
  const Eigen::SelfAdjointEigenSolver<Matrix> squares(matrix.transpose() * matrix,
                                                      Eigen::EigenvaluesOnly);
  return squares.eigenvalues().maxCoeff() <= bound * bound;
}

std::optional<Round> OfPowers(const Matrix& deviation, double share, Round most) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver(deviation, Eigen::EigenvaluesOnly);
  const double rho = solver.eigenvalues().cwiseAbs().maxCoeff();
  if (rho <= share) return 1;
  if (rho >= 1) return std::nullopt;
  const double rounds = std::ceil(std::log(share) / std::log(rho) - kRounding);
  if (rounds > static_cast<double>(most)) return std::nullopt;
  return static_cast<Round>(rounds);
}

}  // namespace

std::optional<Round> RoundsToConsensus(const Mixing& mixing, double share, Round most) {
  const Rank n = mixing.topology().size();
  const Matrix mean = Matrix::Constant(n, n, 1.0 / n);
  std::vector<Matrix> rounds;
  for (Round round = 0; round < mixing.topology().period(); ++round) {
    rounds.push_back(MatrixOf(mixing, round) - mean);
  }
  if (rounds.size() == 1 && mixing.symmetric()) return OfPowers(rounds.front(), share, most);
  // W 11'/n is 11'/n and the other way around: the product of deviations is that of the product.
  Matrix product = rounds.front();
  for (Round done = 1; done <= most; ++done) {
    if (NormIsWithin(product, share + kRounding)) return done;
    product = rounds[done % rounds.size()] * product;
  }
  return std::nullopt;
}

}  // namespace grapevine
