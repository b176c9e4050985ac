// Eigenvalues of mixing matrices, which say how fast averaging alone reaches consensus, and a
// summary of a graph and its weights before a run.
//
// rho is the second largest modulus, the factor by which a round shrinks the disagreement in the
// long run; the gap is 1 - rho. No single number predicts how well a graph trains. The whole
// spectrum does, so it is given where possible.
//
// Thread-safety: pure functions. They visit every edge of the rounds concerned, unless a closed
// form exists.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_SPECTRUM_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_SPECTRUM_H_

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// The most nodes for which the whole spectrum is computed.
constexpr Rank kWholeSpectrumNodes = 2048;

struct Spectrum {
  enum class Method { kClosedForm, kDense, kLanczos };

  // Eigenvalues with multiplicity, by decreasing modulus (then decreasing real and imaginary part);
  // empty beyond kWholeSpectrumNodes.
  std::vector<std::complex<double>> eigenvalues;
  double rho = 0;  // 0 for a single node
  Method method = Method::kClosedForm;
  // |Wv - lambda v| / |v|, where rho is the modulus of lambda, whose eigenvector is v: rho is known
  // to about this precision. 0 unless the method is kLanczos.
  double residual = 0;

  double gap() const { return 1 - rho; }
};

// Returns the spectrum of one round's matrix. Fails for an explicit asymmetric matrix over more
// than kWholeSpectrumNodes nodes.
absl::StatusOr<Spectrum> RoundSpectrum(const Mixing& mixing, Round round);

// Returns the spectrum of the product of the matrices of rounds 0 .. period - 1. The topology must
// have a period. Beyond kWholeSpectrumNodes, works only for closed forms.
absl::StatusOr<Spectrum> PeriodSpectrum(const Mixing& mixing);

// For random matchings, returns the factor by which a round shrinks the expected consensus
// variance, E|Wx - mean|^2 / |x - mean|^2. A matching treats all nodes alike, so every direction
// shrinks by (|W|_F^2 - 1)/(n - 1), and this factor is equal in all rounds.
double ExpectedContraction(const Mixing& mixing);

// A graph and its weights at a glance.
struct TopologySummary {
  std::string topology;
  std::string mixing;
  Rank nodes = 0;
  bool directed = false;
  Round period = 1;  // 0: never repeats

  // Values of one round. A node sends one replica to each out-neighbour, so its degree is also what
  // it sends in the round, in units of a replica.
  Round round = 0;
  int64_t edges = 0;  // undirected ones counted once
  Rank degree_min = 0;
  Rank degree_max = 0;
  double degree_mean = 0;
  Spectrum spectrum;

  // Values of the whole schedule.
  std::vector<double> rho_by_round;   // rho of each round, if the period is above 1
  std::optional<Spectrum> product;    // PeriodSpectrum, if the period is above 1
  std::optional<double> contraction;  // ExpectedContraction, if the period is 0
  bool exact = false;                 // whether a period averages exactly

  // The factor by which one round shrinks the disagreement (a norm, not its square) in the long
  // run: rho, or the period's mean, or the root of the expected contraction.
  double shrink = 0;
  // The first whole number of rounds, from round 0 on, after which averaging alone leaves at most a
  // tenth of any disagreement (RoundsToConsensus); 0 for a single node, infinite where rho is 1 up
  // to rounding. Derived from `shrink` where only that is known: in expectation, for weights that
  // are not doubly stochastic, and beyond kWholeSpectrumNodes without closed forms.
  double rounds_to_tenth = 0;
};

// Summarizes a graph and its weights, with the spectrum of `round`. Fails where a spectrum cannot
// be computed (RoundSpectrum, PeriodSpectrum).
absl::StatusOr<TopologySummary> Summarize(const Mixing& mixing, Round round);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_SPECTRUM_H_
