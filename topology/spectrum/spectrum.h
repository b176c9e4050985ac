// Eigenvalues of mixing matrices: how fast averaging alone reaches consensus.
//
// rho is the second largest modulus, the factor by which a round shrinks the
// disagreement in the long run; the gap is 1 - rho. One number does not predict
// how well a graph learns: the whole spectrum does, so it is given where it can.
//
// Thread-safety: pure functions. All of them visit every edge of the rounds they
// look at, unless a closed form exists.
#ifndef GRAPEVINE_TOPOLOGY_SPECTRUM_SPECTRUM_H_
#define GRAPEVINE_TOPOLOGY_SPECTRUM_SPECTRUM_H_

#include <complex>
#include <vector>

#include "absl/status/statusor.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Up to this many nodes the whole spectrum is computed.
constexpr Rank kWholeSpectrumNodes = 2048;

struct Spectrum {
  enum class Method { kClosedForm, kDense, kLanczos };

  // With multiplicity, by falling modulus (then falling real and imaginary
  // part); empty beyond kWholeSpectrumNodes.
  std::vector<std::complex<double>> eigenvalues;
  double rho = 0;  // 0 for a single node
  Method method = Method::kClosedForm;
  // Of the eigenvector behind rho, |Wv - rho v| / |v|: rho is known to about
  // this much. 0 unless the method is kLanczos.
  double residual = 0;

  double gap() const { return 1 - rho; }
};

// Of the matrix of one round. Fails for an explicit asymmetric matrix over more
// than kWholeSpectrumNodes nodes.
absl::StatusOr<Spectrum> RoundSpectrum(const Mixing& mixing, Round round);

// Of the product of the matrices of rounds 0 .. period - 1. The topology has a
// period. Beyond kWholeSpectrumNodes only for closed forms.
absl::StatusOr<Spectrum> PeriodSpectrum(const Mixing& mixing);

// For random matchings: the factor by which a round shrinks the expected
// consensus variance, E|Wx - mean|^2 / |x - mean|^2. A matching treats all
// nodes alike, so every direction shrinks by (|W|_F^2 - 1)/(n - 1); and that is
// the same in every round.
double ExpectedContraction(const Mixing& mixing);

// Rounds until averaging alone has shrunk the disagreement tenfold, where each
// shrinks it by `rho`; infinity for 1, and 1 for 0.
double RoundsToTenth(double rho);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_SPECTRUM_SPECTRUM_H_
