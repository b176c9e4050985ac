#include "topology/spectrum/spectrum.h"

#include <Spectra/SymEigsSolver.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "topology/spectrum/consensus.h"
#include "topology/spectrum/round_matrix.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

// Finds the slowest disagreement of a large network by Lanczos on W - 11'/n.
//
// Thread-safety: pure function. Memory O(nodes + edges), no dense matrix.

struct Disagreement {
  double modulus;   // modulus of the eigenvalue
  double residual;  // |Wv - lambda v| of its unit eigenvector
};

// Returns the second largest modulus of the round's W over at least three nodes. The residual is
// small (1e-8) unless the gap is below about 1e-5, where the search ends early with the best that
// it has. Refuses a W that is not symmetric.
absl::StatusOr<Disagreement> LargestDisagreement(const Mixing& mixing, Round round);

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
  // A graph with few distinct eigenvalues, a star for example, exhausts the Krylov space after as
  // many steps, and Spectra goes on in rounding errors. Noise on the diagonal prevents that and
  // moves no eigenvalue by more than its size.
  static constexpr double kNoise = 1e-10;

  const Sparse matrix_;
  Eigen::VectorXd noise_;
};

// Spectra's solver withholds what has not converged to its tolerance. The best pair with its
// residual says more than nothing.
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

absl::StatusOr<Disagreement> LargestDisagreement(const Mixing& mixing, Round round) {
  if (!mixing.symmetric()) {
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

using Complex = std::complex<double>;

// Rounding makes zeros like 1e-17, which would look like structure.
Complex Clean(Complex value) {
  constexpr double kNothing = 1e-15;
  const auto clean = [](double x) { return std::abs(x) < kNothing ? 0.0 : x; };
  return {clean(value.real()), clean(value.imag())};
}

// Sorts the eigenvalues and takes rho. Equal moduli that differ by rounding keep a fixed order,
// since they are first compared at a coarser grain.
Spectrum FromEigenvalues(std::vector<Complex> eigenvalues, Spectrum::Method method) {
  for (Complex& value : eigenvalues) value = Clean(value);
  const auto key = [](const Complex& value) {
    constexpr double kGrain = 1e10;
    return std::tuple(-std::round(std::abs(value) * kGrain), -value.real(), -value.imag());
  };
  std::sort(eigenvalues.begin(), eigenvalues.end(),
            [&](const Complex& a, const Complex& b) { return key(a) < key(b); });
  Spectrum spectrum{.eigenvalues = std::move(eigenvalues), .method = method};
  if (spectrum.eigenvalues.size() > 1) spectrum.rho = std::abs(spectrum.eigenvalues[1]);
  return spectrum;
}

// Returns the spectrum from eigenvalues 0 .. n-1, if they have a formula.
std::optional<Spectrum> ClosedForm(Rank n, const std::function<std::optional<Complex>(Rank)>& at) {
  if (!at(0)) return std::nullopt;
  if (n <= kWholeSpectrumNodes) {
    std::vector<Complex> eigenvalues(n);
    for (Rank k = 0; k < n; ++k) eigenvalues[k] = *at(k);
    return FromEigenvalues(std::move(eigenvalues), Spectrum::Method::kClosedForm);
  }
  Spectrum spectrum;
  for (Rank k = 1; k < n; ++k) spectrum.rho = std::max(spectrum.rho, std::abs(Clean(*at(k))));
  return spectrum;
}

absl::StatusOr<Spectrum> Dense(const Eigen::MatrixXd& matrix, bool symmetric) {
  std::vector<Complex> eigenvalues;
  const auto take = [&](const auto& solver) {
    eigenvalues.assign(solver.eigenvalues().begin(), solver.eigenvalues().end());
    return solver.info() == Eigen::Success;
  };
  const bool converged =
      symmetric
          ? take(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly))
          : take(Eigen::EigenSolver<Eigen::MatrixXd>(matrix, false));
  if (!converged)
    return absl::InternalError("the eigenvalues of the mixing matrix do not converge");
  return FromEigenvalues(std::move(eigenvalues), Spectrum::Method::kDense);
}

absl::StatusOr<Spectrum> Large(const Mixing& mixing, Round round) {
  ASSIGN_OR_RETURN(const auto largest, LargestDisagreement(mixing, round));
  return Spectrum{.eigenvalues = {},
                  .rho = largest.modulus,
                  .method = Spectrum::Method::kLanczos,
                  .residual = largest.residual};
}

// The most that rounding leaves of an eigenvalue 0, or takes from an eigenvalue 1.
constexpr double kExact = 1e-12;

void DescribeGraph(const Topology& topology, TopologySummary* summary) {
  const Rank n = topology.size();
  int64_t ends = 0;
  summary->degree_min = topology.OutDegree(0, summary->round);
  for (Rank rank = 0; rank < n; ++rank) {
    const Rank degree = topology.OutDegree(rank, summary->round);
    summary->degree_min = std::min(summary->degree_min, degree);
    summary->degree_max = std::max(summary->degree_max, degree);
    ends += degree;
  }
  summary->edges = topology.directed() ? ends : ends / 2;
  summary->degree_mean = static_cast<double>(ends) / n;
}

constexpr double kTenth = 0.1;

// Returns the rounds until a tenth is left, if each round leaves the same share.
double RoundsAt(double shrink) {
  if (shrink >= 1) return std::numeric_limits<double>::infinity();
  constexpr double kRounding = 1e-9;
  return std::max(1.0, std::ceil(std::log(kTenth) / std::log(shrink) - kRounding));
}

// Returns TopologySummary::rounds_to_tenth. `rho` is that of a whole period: m periods leave at
// least rho^m of some disagreement, so that the search begins where this is a tenth.
double RoundsToTenth(const Mixing& mixing, double rho, const TopologySummary& summary) {
  // The periods that are searched from there: one would do where the matrices are symmetric and
  // commute, several where their product is far from normal.
  constexpr Round kMore = 16;
  if (summary.nodes == 1) return 0;
  const bool powers = summary.period == 1 && mixing.symmetric();
  const bool known = mixing.Eigenvalue(0, 0) || summary.nodes <= kWholeSpectrumNodes;
  if (rho >= 1 || powers || !known || mixing.stochastic() != Stochastic::kDoubly) {
    return RoundsAt(summary.shrink);
  }
  const double periods = RoundsAt(rho) - 1;
  const auto most = static_cast<Round>((periods + kMore) * static_cast<double>(summary.period));
  const auto rounds = RoundsToConsensus(mixing, kTenth, most, static_cast<Round>(periods));
  return rounds ? static_cast<double>(*rounds) : RoundsAt(summary.shrink);
}

// `spectrum` is that of a whole period.
void SetPace(const Mixing& mixing, const Spectrum& spectrum, TopologySummary* summary) {
  // Closed forms know gaps of any size.
  const bool never = spectrum.method != Spectrum::Method::kClosedForm && spectrum.rho > 1 - kExact;
  const double rho = never ? 1 : spectrum.rho;
  summary->exact = rho < kExact;
  summary->shrink = std::pow(rho, 1.0 / static_cast<double>(summary->period));
  summary->rounds_to_tenth = RoundsToTenth(mixing, rho, *summary);
}

void DescribeEndless(const Mixing& mixing, TopologySummary* summary) {
  summary->contraction = ExpectedContraction(mixing);
  summary->shrink = std::sqrt(*summary->contraction);
  summary->rounds_to_tenth = summary->nodes == 1 ? 0 : RoundsAt(summary->shrink);
}

absl::Status DescribePeriod(const Mixing& mixing, TopologySummary* summary) {
  for (Round round = 0; round < summary->period; ++round) {
    ASSIGN_OR_RETURN(const auto spectrum, RoundSpectrum(mixing, round));
    summary->rho_by_round.push_back(spectrum.rho);
  }
  ASSIGN_OR_RETURN(auto product, PeriodSpectrum(mixing));
  SetPace(mixing, product, summary);
  summary->product = std::move(product);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Spectrum> RoundSpectrum(const Mixing& mixing, Round round) {
  const Rank n = mixing.topology().size();
  const auto closed = ClosedForm(n, [&](Rank k) { return mixing.Eigenvalue(k, round); });
  if (closed) return *closed;
  if (n > kWholeSpectrumNodes) return Large(mixing, round);
  return Dense(RoundMatrix(mixing, round), mixing.symmetric());
}

absl::StatusOr<Spectrum> PeriodSpectrum(const Mixing& mixing) {
  const Topology& topology = mixing.topology();
  if (topology.period() == 1) return RoundSpectrum(mixing, 0);
  const auto closed = ClosedForm(topology.size(), [&](Rank k) {
    std::optional<Complex> product = mixing.Eigenvalue(k, 0);
    for (Round round = 1; product && round < topology.period(); ++round) {
      *product *= *mixing.Eigenvalue(k, round);
    }
    return product;
  });
  if (closed) return *closed;
  if (topology.size() > kWholeSpectrumNodes) {
    return absl::UnimplementedError(absl::StrCat("the product over the period of ", topology.name(),
                                                 " is only known up to ", kWholeSpectrumNodes,
                                                 " nodes"));
  }
  Eigen::MatrixXd product = RoundMatrix(mixing, 0);
  for (Round round = 1; round < topology.period(); ++round) {
    product = RoundMatrix(mixing, round) * product;
  }
  return Dense(product, false);
}

double ExpectedContraction(const Mixing& mixing) {
  const Rank n = mixing.topology().size();
  if (n == 1) return 0;
  double squares = 0;
  MixingRow row;
  for (Rank i = 0; i < n; ++i) {
    mixing.Row(i, 0, &row);
    squares += row.self * row.self;
    for (const auto& [j, weight] : row.in) squares += weight * weight;
  }
  return (squares - 1) / (n - 1);
}

absl::StatusOr<TopologySummary> Summarize(const Mixing& mixing, Round round) {
  const Topology& topology = mixing.topology();
  TopologySummary summary;
  summary.topology = topology.name();
  summary.mixing = mixing.name();
  summary.nodes = topology.size();
  summary.directed = topology.directed();
  summary.period = topology.period();
  summary.round = round;
  DescribeGraph(topology, &summary);
  ASSIGN_OR_RETURN(summary.spectrum, RoundSpectrum(mixing, round));
  if (summary.period == 1) {
    SetPace(mixing, summary.spectrum, &summary);
  } else if (summary.period == 0) {
    DescribeEndless(mixing, &summary);
  } else {
    RETURN_IF_ERROR(DescribePeriod(mixing, &summary));
  }
  return summary;
}

}  // namespace grapevine
