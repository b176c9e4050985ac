// The spectra against their formulas, and the formulas against Eigen.
#include "topology/spectrum/spectrum.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <bit>
#include <cmath>
#include <numbers>

#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

using std::numbers::pi;

std::shared_ptr<const Mixing> Make(const std::string& topology, Rank n,
                                   const std::string& mixing = "metropolis", uint64_t seed = 1) {
  const auto graph = MakeTopology(topology, n, seed);
  EXPECT_TRUE(graph.ok()) << graph.status();
  const auto weights = MakeMixing(mixing, *graph);
  EXPECT_TRUE(weights.ok()) << weights.status();
  return *weights;
}

Spectrum Of(const std::string& topology, Rank n, const std::string& mixing = "metropolis") {
  const auto spectrum = RoundSpectrum(*Make(topology, n, mixing), 0);
  EXPECT_TRUE(spectrum.ok()) << spectrum.status();
  return *spectrum;
}

double Rho(const std::string& topology, Rank n) { return Of(topology, n).rho; }

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

// W_{period-1} ... W_0.
Eigen::MatrixXd PeriodMatrix(const Mixing& mixing) {
  Eigen::MatrixXd product = RoundMatrix(mixing, 0);
  for (Round round = 1; round < mixing.topology().period(); ++round) {
    product = RoundMatrix(mixing, round) * product;
  }
  return product;
}

// Both have the same characteristic polynomial's power sums tr(W^k); that is
// robust where eigenvalues are multiple.
void ExpectEigenvaluesOf(const Eigen::MatrixXd& matrix, const Spectrum& spectrum) {
  ASSERT_EQ(static_cast<Eigen::Index>(spectrum.eigenvalues.size()), matrix.rows());
  Eigen::MatrixXd power = matrix;
  for (int k = 1; k <= 12; ++k) {
    std::complex<double> sum = 0;
    for (const auto& value : spectrum.eigenvalues) sum += std::pow(value, k);
    EXPECT_NEAR(sum.real(), power.trace(), 1e-9 * matrix.rows()) << "power " << k;
    EXPECT_NEAR(sum.imag(), 0, 1e-9 * matrix.rows()) << "power " << k;
    power = power * matrix;
  }
}

TEST(SpectrumTest, CompleteAveragesInOneRound) {
  for (Rank n : {1, 2, 3, 8, 2048, 100000}) EXPECT_EQ(Rho("complete", n), 0) << n;
}

TEST(SpectrumTest, Star) {
  for (Rank n : {3, 8, 33, 2048, 100000}) EXPECT_NEAR(Rho("star", n), 1 - 1.0 / n, 1e-12) << n;
}

TEST(SpectrumTest, Path) {
  for (Rank n : {3, 8, 33, 1000}) {
    EXPECT_NEAR(Of("path", n).gap(), 2.0 / 3 * (1 - std::cos(pi / n)), 1e-12) << n;
  }
}

TEST(SpectrumTest, Ring) {
  EXPECT_NEAR(Rho("ring", 8), .80474, 5e-6);
  EXPECT_NEAR(Rho("ring", 16), .94925, 5e-6);
  EXPECT_NEAR(Rho("ring", 32), .98719, 5e-6);
  EXPECT_NEAR(Rho("ring", 64), .99679, 5e-6);
  const double asymptote = 4 * pi * pi / (3 * 1e10);
  EXPECT_NEAR(Of("ring", 100000).gap() / asymptote, 1, 1e-5);
}

TEST(SpectrumTest, RingOfEveryEigenvalue) {
  const Spectrum spectrum = Of("ring", 5);
  ASSERT_EQ(spectrum.eigenvalues.size(), 5u);
  const double a = 1.0 / 3 + 2.0 / 3 * std::cos(2 * pi / 5);
  const double b = 1.0 / 3 + 2.0 / 3 * std::cos(4 * pi / 5);
  const double expected[] = {1, a, a, b, b};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(spectrum.eigenvalues[i].real(), expected[i], 1e-14);
    EXPECT_EQ(spectrum.eigenvalues[i].imag(), 0);
  }
}

TEST(SpectrumTest, Torus) {
  EXPECT_NEAR(Rho("torus:3x3", 9), .4, 1e-12);
  EXPECT_NEAR(Rho("torus:4x4", 16), .6, 1e-12);
  EXPECT_NEAR(Rho("torus:8x8", 64), .88284, 5e-6);
  EXPECT_NEAR(Rho("torus:16x16", 256), .96955, 5e-6);
  EXPECT_EQ(Rho("torus", 64), Rho("torus:8x8", 64));
}

TEST(SpectrumTest, Hypercube) {
  for (int d = 1; d <= 10; ++d) {
    const Spectrum spectrum = Of("hypercube", 1 << d);
    // Eigenvalue 1 - 2k/(d+1) has multiplicity (d choose k): their third moment.
    double expected = 0, binomial = 1;
    for (int k = 0; k <= d; ++k) {
      expected += binomial * std::pow(1 - 2.0 * k / (d + 1), 3);
      binomial *= static_cast<double>(d - k) / (k + 1);
    }
    double actual = 0;
    for (const auto& value : spectrum.eigenvalues) actual += std::pow(value.real(), 3);
    EXPECT_NEAR(actual, expected, 1e-9) << d;
    EXPECT_NEAR(spectrum.gap(), d == 1 ? 1 : 2.0 / (1 + d), 1e-12) << d;
  }
  EXPECT_NEAR(std::abs(Of("hypercube", 128).eigenvalues.back()), 0, 1e-12);
}

TEST(SpectrumTest, StaticExponential) {
  for (Rank n : {2, 4, 6, 8, 10, 32, 34, 100, 100000}) {
    const int tau = std::bit_width(static_cast<uint32_t>(n - 1));
    EXPECT_NEAR(Rho("exponential", n), 1 - 2.0 / (1 + tau), 1e-12) << n;
  }
  EXPECT_NEAR(Rho("exponential", 3), 0, 1e-12);
  EXPECT_NEAR(Rho("exponential", 7), .3536, 5e-5);
  EXPECT_NEAR(Rho("exponential", 33), .6078, 5e-5);
}

TEST(SpectrumTest, StaticExponentialIsNormalNotSymmetric) {
  const Eigen::MatrixXd w = RoundMatrix(*Make("exponential", 7), 0);
  EXPECT_GT((w - w.transpose()).norm(), 0.1);
  EXPECT_LT((w * w.transpose() - w.transpose() * w).norm(), 1e-14);
}

TEST(SpectrumTest, OnePeerExponentialIsExactAfterAPeriodOnPowersOfTwoOnly) {
  for (Rank n = 2; n <= 64; ++n) {
    const auto mixing = Make("one-peer-exponential", n);
    EXPECT_EQ(mixing->topology().period(), std::bit_width(static_cast<uint32_t>(n - 1))) << n;
    const Eigen::MatrixXd product = PeriodMatrix(*mixing);
    const double error = (product - Eigen::MatrixXd::Constant(n, n, 1.0 / n)).norm();
    const auto spectrum = PeriodSpectrum(*mixing);
    ASSERT_TRUE(spectrum.ok()) << spectrum.status();
    if (std::has_single_bit(static_cast<uint32_t>(n))) {
      EXPECT_LT(error, 1e-14) << n;
      EXPECT_EQ(spectrum->rho, 0) << n;
    } else {
      EXPECT_GT(error, 1e-3) << n;
      EXPECT_GT(spectrum->rho, 1e-3) << n;
    }
  }
  const auto large = PeriodSpectrum(*Make("one-peer-exponential", 1 << 16));
  ASSERT_TRUE(large.ok()) << large.status();
  EXPECT_EQ(large->rho, 0);
}

TEST(SpectrumTest, OnePeerExponentialIsExactInAnyOrder) {
  const auto mixing = Make("one-peer-exponential", 16);
  const Eigen::MatrixXd product = RoundMatrix(*mixing, 1) * RoundMatrix(*mixing, 3) *
                                  RoundMatrix(*mixing, 0) * RoundMatrix(*mixing, 2);
  EXPECT_LT((product - Eigen::MatrixXd::Constant(16, 16, 1.0 / 16)).norm(), 1e-14);
}

TEST(SpectrumTest, RandomMatchingContractsAsExpected) {
  EXPECT_NEAR(ExpectedContraction(*Make("random-matching", 8)), .4286, 5e-5);
  EXPECT_NEAR(ExpectedContraction(*Make("random-matching", 32)), .4839, 5e-5);
  for (Rank n : {3, 7, 33, 99999}) {
    EXPECT_NEAR(ExpectedContraction(*Make("random-matching", n)), .5, 1e-12) << n;
  }
  EXPECT_EQ(ExpectedContraction(*Make("random-matching", 1)), 0);
}

// The formula against averages over many rounds, from a fixed disagreement.
TEST(SpectrumTest, RandomMatchingContractsSoOnAverage) {
  for (const char* weights : {"metropolis", "lazy"}) {
    for (Rank n : {4, 8, 9, 32}) {
      const auto mixing = Make("random-matching", n, weights);
      std::vector<double> x(n, 0);
      x[1] = 3;
      x[n - 1] = -3;
      double variance = 0;
      constexpr int kRounds = 20000;
      MixingRow row;
      for (Round round = 0; round < kRounds; ++round) {
        for (Rank i = 0; i < n; ++i) {
          mixing->Row(i, round, &row);
          double mixed = row.self * x[i];
          for (const auto& [j, weight] : row.in) mixed += weight * x[j];
          variance += mixed * mixed;
        }
      }
      EXPECT_NEAR(variance / kRounds / 18, ExpectedContraction(*mixing), 0.01) << weights << n;
    }
  }
}

TEST(SpectrumTest, ClosedFormsAreTheEigenvaluesOfTheMatrix) {
  for (const char* topology :
       {"complete", "star", "path", "ring", "torus", "torus:3x2x4", "hypercube", "exponential",
        "one-peer-exponential", "random-matching"}) {
    for (const char* weights : {"metropolis", "lazy"}) {
      for (Rank n = 1; n <= 24; ++n) {
        if (!MakeTopology(topology, n, 1).ok()) continue;
        SCOPED_TRACE(::testing::Message() << topology << " " << weights << " n=" << n);
        const auto mixing = Make(topology, n, weights);
        const Round last = std::max<Round>(1, mixing->topology().period());
        for (Round round = 0; round < last; ++round) {
          const auto spectrum = RoundSpectrum(*mixing, round);
          ASSERT_TRUE(spectrum.ok()) << spectrum.status();
          EXPECT_EQ(spectrum->method, Spectrum::Method::kClosedForm);
          EXPECT_EQ(spectrum->eigenvalues[0], 1.0);
          ExpectEigenvaluesOf(RoundMatrix(*mixing, round), *spectrum);
        }
        if (mixing->topology().period() == 0) continue;
        const auto product = PeriodSpectrum(*mixing);
        ASSERT_TRUE(product.ok()) << product.status();
        ExpectEigenvaluesOf(PeriodMatrix(*mixing), *product);
      }
    }
  }
}

TEST(SpectrumTest, WithoutAClosedFormEigenFindsTheWholeSpectrum) {
  for (const char* topology : {"random", "erdos-renyi", "small-world"}) {
    const auto mixing = Make(topology, 30);
    const auto spectrum = RoundSpectrum(*mixing, 0);
    ASSERT_TRUE(spectrum.ok()) << spectrum.status();
    EXPECT_EQ(spectrum->method, Spectrum::Method::kDense);
    EXPECT_NEAR(std::abs(spectrum->eigenvalues[0] - 1.0), 0, 1e-12);
    ExpectEigenvaluesOf(RoundMatrix(*mixing, 0), *spectrum);
    EXPECT_LT(spectrum->rho, 1);
  }
}

// Hides the closed forms of another mixing.
class Opaque : public Mixing {
 public:
  explicit Opaque(std::shared_ptr<const Mixing> inner) : inner_(std::move(inner)) {}
  std::string name() const override { return inner_->name(); }
  const Topology& topology() const override { return inner_->topology(); }
  void Row(Rank rank, Round round, MixingRow* row) const override { inner_->Row(rank, round, row); }

 private:
  const std::shared_ptr<const Mixing> inner_;
};

TEST(SpectrumTest, DenseAndClosedFormsAgree) {
  for (const char* topology : {"ring", "torus", "exponential", "one-peer-exponential"}) {
    for (Rank n : {2, 7, 24}) {
      const auto mixing = Make(topology, n);
      const auto closed = PeriodSpectrum(*mixing), dense = PeriodSpectrum(Opaque(mixing));
      ASSERT_TRUE(closed.ok() && dense.ok()) << closed.status() << dense.status();
      EXPECT_EQ(dense->method, Spectrum::Method::kDense);
      EXPECT_NEAR(closed->rho, dense->rho, 1e-12) << topology << n;
    }
  }
}

TEST(SpectrumTest, LanczosAgreesWithClosedForms) {
  for (const auto& [topology, n] : std::vector<std::pair<const char*, Rank>>{{"torus:48x48", 2304},
                                                                             {"hypercube", 4096},
                                                                             {"star", 3000},
                                                                             {"complete", 2049},
                                                                             {"ring", 2500}}) {
    const auto mixing = Make(topology, n);
    const auto spectrum = RoundSpectrum(Opaque(mixing), 0);
    ASSERT_TRUE(spectrum.ok()) << spectrum.status();
    EXPECT_EQ(spectrum->method, Spectrum::Method::kLanczos);
    EXPECT_TRUE(spectrum->eigenvalues.empty());
    EXPECT_LT(spectrum->residual, 1e-3);
    EXPECT_NEAR(spectrum->rho, RoundSpectrum(*mixing, 0)->rho, spectrum->residual + 1e-12)
        << topology;
  }
}

TEST(SpectrumTest, LanczosRefusesWhatIsNotSymmetric) {
  const auto spectrum = RoundSpectrum(Opaque(Make("exponential", 3000)), 0);
  EXPECT_EQ(spectrum.status().message(),
            "the spectrum of metropolis on exponential of 3000 nodes has no closed form and is "
            "not symmetric");
}

// Friedman: almost every 3-regular graph has lambda_2 of its adjacency near
// 2 sqrt(2).
TEST(SpectrumTest, RandomRegularGraphsAreNearlyRamanujan) {
  const auto spectrum = RoundSpectrum(*Make("random:d=3", 10000), 0);
  ASSERT_TRUE(spectrum.ok()) << spectrum.status();
  EXPECT_NEAR(spectrum->rho, (1 + 2 * std::numbers::sqrt2) / 4, 2e-3);
  EXPECT_LT(spectrum->residual, 1e-6);
}

TEST(SpectrumTest, AHundredThousandNodes) {
  const auto spectrum = RoundSpectrum(*Make("erdos-renyi", 100000), 0);
  ASSERT_TRUE(spectrum.ok()) << spectrum.status();
  EXPECT_EQ(spectrum->method, Spectrum::Method::kLanczos);
  EXPECT_LT(spectrum->residual, 1e-6);
  for (const char* topology : {"ring", "torus", "exponential", "one-peer-exponential", "star",
                               "path", "complete", "random-matching"}) {
    const auto mixing = Make(topology, 100000);
    ASSERT_TRUE(RoundSpectrum(*mixing, 0).ok()) << topology;
    MixingRow row;
    mixing->Row(99999, 3, &row);
    EXPECT_GT(row.self, 0) << topology;
  }
}

// What the rounds before it, from round 0 on, leave of the disagreement that they shrink least.
double Left(const Mixing& mixing, Round rounds) {
  const Rank n = mixing.topology().size();
  Eigen::MatrixXd product =
      Eigen::MatrixXd::Identity(n, n) - Eigen::MatrixXd::Constant(n, n, 1.0 / n);
  for (Round round = 0; round < rounds; ++round) product = RoundMatrix(mixing, round) * product;
  return Eigen::JacobiSVD<Eigen::MatrixXd>(product).singularValues()(0);
}

TEST(SpectrumTest, RoundsToTenthAreTheFirstThatLeaveNoMore) {
  for (const char* topology :
       {"ring", "exponential", "one-peer-exponential", "star", "hypercube", "torus", "complete"}) {
    for (const Rank n : {2, 4, 7, 8, 15, 16}) {
      if (!MakeTopology(topology, n, 1).ok()) continue;
      for (const char* weights : {"metropolis", "lazy"}) {
        SCOPED_TRACE(absl::StrCat(topology, " of ", n, ", ", weights));
        const auto mixing = Make(topology, n, weights);
        const auto summary = Summarize(*mixing, 0);
        ASSERT_TRUE(summary.ok()) << summary.status();
        if (std::isinf(summary->rounds_to_tenth)) continue;
        const auto rounds = static_cast<Round>(summary->rounds_to_tenth);
        constexpr double kRounding = 1e-9;
        EXPECT_LE(Left(*mixing, rounds), 0.1 + kRounding) << rounds;
        EXPECT_GT(Left(*mixing, rounds - 1), 0.1 - kRounding) << rounds;
      }
    }
  }
}

TEST(SpectrumTest, RoundsToTenthOfTheOnePeerExponentialGraph) {
  const auto rounds = [](Rank n, const std::string& mixing) {
    return Summarize(*Make("one-peer-exponential", n, mixing), 0)->rounds_to_tenth;
  };
  EXPECT_EQ(rounds(1, "metropolis"), 0);
  EXPECT_EQ(rounds(8, "metropolis"), 3);
  EXPECT_EQ(rounds(7, "metropolis"), 5) << "0.1126 is left after 4";
  for (const Rank n : {30, 64}) {
    const auto lazy = Make("one-peer-exponential", n, "lazy");
    const auto first = static_cast<Round>(rounds(n, "lazy"));
    EXPECT_LE(Left(*lazy, first), 0.1 + 1e-9) << n;
    EXPECT_GT(Left(*lazy, first - 1), 0.1) << n;
  }
}

}  // namespace
}  // namespace grapevine
