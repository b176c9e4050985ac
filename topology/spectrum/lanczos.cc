#include "topology/spectrum/lanczos.h"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor>;

Sparse SparseRound(const Mixing& mixing, Round round) {
  const Rank n = mixing.topology().size();
  Sparse matrix(n, n);
  std::vector<int> entries(n);
  for (Rank i = 0; i < n; ++i) entries[i] = mixing.topology().Degree(i, round) + 1;
  matrix.reserve(entries);
  MixingRow row;
  for (Rank i = 0; i < n; ++i) {
    mixing.Row(i, round, &row);
    matrix.insert(i, i) = row.self;
    for (const auto& [j, weight] : row.in) matrix.insert(i, j) = weight;
  }
  matrix.makeCompressed();
  return matrix;
}

// W without the mean, in the form that Spectra asks for.
class WithoutMean {
 public:
  using Scalar = double;

  explicit WithoutMean(Sparse matrix) : matrix_(std::move(matrix)), noise_(matrix_.rows()) {
    KeyedRandom random(0, Purpose::kSpectrum);
    for (double& value : noise_) value = kNoise * random.Unit();
  }
  Eigen::Index rows() const { return matrix_.rows(); }
  Eigen::Index cols() const { return matrix_.cols(); }
  Eigen::VectorXd Apply(const Eigen::VectorXd& x) const {
    const Eigen::VectorXd image = matrix_ * x;
    return image.array() - x.mean();
  }
  void perform_op(const double* x, double* y) const {
    const Eigen::Map<const Eigen::VectorXd> in(x, rows());
    Eigen::Map<Eigen::VectorXd>(y, rows()) = Apply(in) + noise_.cwiseProduct(in);
  }

 private:
  // A graph with few distinct eigenvalues, a star for one, exhausts the Krylov
  // space after as many steps, and Spectra goes on in rounding errors. Noise on
  // the diagonal prevents that and moves no eigenvalue by more than its size.
  static constexpr double kNoise = 1e-10;

  const Sparse matrix_;
  Eigen::VectorXd noise_;
};

// Spectra's solver withholds what has not converged to its tolerance; the best
// pair with its residual says more than nothing.
class Solver : public Spectra::SymEigsSolver<WithoutMean> {
 public:
  using SymEigsSolver::SymEigsSolver;

  Disagreement Best() const {
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> ritz(m_fac.matrix_H());
    Eigen::Index largest;
    ritz.eigenvalues().cwiseAbs().maxCoeff(&largest);
    const double eigenvalue = ritz.eigenvalues()(largest);
    const Eigen::VectorXd vector =
        (m_fac.matrix_V() * ritz.eigenvectors().col(largest)).normalized();
    return {std::abs(eigenvalue), (m_op.Apply(vector) - eigenvalue * vector).norm()};
  }
};

}  // namespace

absl::StatusOr<Disagreement> LargestDisagreement(const Mixing& mixing, Round round) {
  if (mixing.topology().directed()) {
    return absl::UnimplementedError(
        absl::StrCat("the spectrum of ", mixing.name(), " on ", mixing.topology().name(), " of ",
                     mixing.topology().size(), " nodes has no closed form and is not symmetric"));
  }
  WithoutMean operation(SparseRound(mixing, round));
  constexpr Eigen::Index kBasis = 60;
  constexpr int kRestarts = 60;
  constexpr double kTolerance = 1e-8;
  Solver solver(operation, 1, std::min(kBasis, operation.rows()));
  solver.init();
  solver.compute(Spectra::SortRule::LargestMagn, kRestarts, kTolerance);
  return solver.Best();
}

}  // namespace grapevine
