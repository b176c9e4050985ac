#include "topology/spectrum/spectrum.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "topology/spectrum/lanczos.h"

namespace grapevine {
namespace {

using Complex = std::complex<double>;

// Rounding makes zeros like 1e-17: without this they would look like structure.
Complex Clean(Complex value) {
  constexpr double kNothing = 1e-15;
  const auto clean = [](double x) { return std::abs(x) < kNothing ? 0.0 : x; };
  return {clean(value.real()), clean(value.imag())};
}

// Sorts and takes rho. Equal moduli that differ by rounding keep a fixed order
// by comparing at a coarser grain first.
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

// Eigenvalues 0 .. n-1 of a formula, if it has them.
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

Eigen::MatrixXd DenseRound(const Mixing& mixing, Round round) {
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

}  // namespace

absl::StatusOr<Spectrum> RoundSpectrum(const Mixing& mixing, Round round) {
  const Rank n = mixing.topology().size();
  const auto closed = ClosedForm(n, [&](Rank k) { return mixing.Eigenvalue(k, round); });
  if (closed) return *closed;
  if (n > kWholeSpectrumNodes) return Large(mixing, round);
  return Dense(DenseRound(mixing, round), !mixing.topology().directed());
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
  Eigen::MatrixXd product = DenseRound(mixing, 0);
  for (Round round = 1; round < topology.period(); ++round) {
    product = DenseRound(mixing, round) * product;
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

double RoundsToTenth(double rho) {
  if (rho >= 1) return std::numeric_limits<double>::infinity();
  return std::max(1.0, std::log(0.1) / std::log(rho));
}

}  // namespace grapevine
