#include "topology/lanczos.h"

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

}  // namespace

absl::StatusOr<Disagreement> LargestDisagreement(const Mixing& mixing, Round round) {
  if (mixing.topology().directed()) {
    return absl::UnimplementedError(
        absl::StrCat("the spectrum of ", mixing.name(), " on ", mixing.topology().name(), " of ",
                     mixing.topology().size(), " nodes has no closed form and is not symmetric"));
  }
  WithoutMean operation(SparseRound(mixing, round));
  constexpr int kBasis = 40;
  constexpr int kRestarts = 200;
  // A tight tolerance first; where a cluster of eigenvalues defeats it, rho
  // with a larger residual says more than nothing.
  for (double tolerance : {1e-9, 1e-6, 1e-4}) {
    const int basis = static_cast<int>(std::min<Eigen::Index>(kBasis, operation.rows()));
    Spectra::SymEigsSolver<WithoutMean> solver(operation, 1, basis);
    solver.init();
    solver.compute(Spectra::SortRule::LargestMagn, kRestarts, tolerance);
    if (solver.info() != Spectra::CompInfo::Successful) continue;
    const double eigenvalue = solver.eigenvalues()(0);
    const Eigen::VectorXd vector = solver.eigenvectors(1).col(0);
    return Disagreement{std::abs(eigenvalue),
                        (operation.Apply(vector) - eigenvalue * vector).norm()};
  }
  return absl::UnavailableError(
      absl::StrCat("Lanczos does not find the slowest disagreement of ", mixing.topology().name(),
                   " over ", mixing.topology().size(), " nodes: its gap is too small"));
}

}  // namespace grapevine
