#include "topology/spectrum/consensus.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <vector>

#include "topology/spectrum/round_matrix.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

using Matrix = Eigen::MatrixXd;

// The most that rounding adds to a product that averages exactly.
constexpr double kRounding = 1e-12;

// The spectral norm is at most the Frobenius norm and at least 1/sqrt(n) of it, which decides most
// rounds without eigenvalues.
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

// Works on moduli: what is left in the direction of each eigenvector.
std::optional<Round> OfEigenvalues(const Mixing& mixing, double share, Round most, Round beyond) {
  const Round period = mixing.topology().period();
  const auto shrink = [&](Round round, std::vector<double>* left) {
    for (size_t k = 0; k < left->size(); ++k) {
      (*left)[k] *= std::abs(*mixing.Eigenvalue(static_cast<Rank>(k + 1), round));
    }
  };
  std::vector<double> left(mixing.topology().size() - 1, 1.0);
  for (Round round = 0; beyond > 0 && round < period; ++round) shrink(round, &left);
  for (double& modulus : left) modulus = std::pow(modulus, static_cast<double>(beyond));
  for (Round done = beyond * period + 1; done <= most; ++done) {
    shrink((done - 1) % period, &left);
    if (std::ranges::max(left) <= share + kRounding) return done;
  }
  return std::nullopt;
}

// Computes the power by repeated squaring.
Matrix Power(Matrix base, Round exponent) {
  Matrix power = Matrix::Identity(base.rows(), base.cols());
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 == 1) power = base * power;
    if (exponent > 1) base = base * base;
  }
  return power;
}

// W 11'/n and 11'/n W are both 11'/n, so that the product of deviations is the deviation of the
// product.
std::optional<Round> OfProducts(const std::vector<Matrix>& deviations, double share, Round most,
                                Round beyond) {
  Matrix product = Matrix::Identity(deviations.front().rows(), deviations.front().cols());
  if (beyond > 0) {
    for (const Matrix& deviation : deviations) product = deviation * product;
    product = Power(product, beyond);
  }
  const auto period = static_cast<Round>(deviations.size());
  for (Round done = beyond * period + 1; done <= most; ++done) {
    product = deviations[(done - 1) % period] * product;
    if (NormIsWithin(product, share + kRounding)) return done;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Round> RoundsToConsensus(const Mixing& mixing, double share, Round most,
                                       Round beyond) {
  const Rank n = mixing.topology().size();
  if (n == 1) return 0;
  if (mixing.Eigenvalue(0, 0)) return OfEigenvalues(mixing, share, most, beyond);
  const Matrix mean = Matrix::Constant(n, n, 1.0 / n);
  std::vector<Matrix> rounds;
  for (Round round = 0; round < mixing.topology().period(); ++round) {
    rounds.push_back(RoundMatrix(mixing, round) - mean);
  }
  if (rounds.size() == 1 && mixing.symmetric()) return OfPowers(rounds.front(), share, most);
  return OfProducts(rounds, share, most, beyond);
}

}  // namespace grapevine
