#include "random/portable_math.h"

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

namespace grapevine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// ln 2 in two parts. The high part ends in 21 zero bits, so that its product with
// a binary exponent is exact.
constexpr double kLn2High = 0x1.62e42feep-1;
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;
constexpr double kInverseLn2 = 0x1.71547652b82fep+0;
constexpr double kSqrt2 = 0x1.6a09e667f3bcdp+0;

constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;
constexpr uint64_t kMantissaMask = (uint64_t{1} << kMantissaBits) - 1;

// Coefficients of atanh after the leading term, last term first: 1/23, 1/21, ... 1/3.
constexpr auto kAtanh = [] {
  std::array<double, 11> terms{};
  for (int i = 0; i < 11; ++i) terms[i] = 1.0 / (23 - 2 * i);
  return terms;
}();

// Coefficients of exp(r) after 1 + r, last term first: 1/14!, 1/13!, ... 1/2!.
constexpr auto kExponential = [] {
  std::array<double, 13> terms{};
  double factorial = 1;
  for (int i = 2; i <= 14; ++i) terms[14 - i] = 1.0 / (factorial *= i);
  return terms;
}();

// Returns 2^exponent, which must be a normal number.
double PowerOfTwo(int64_t exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + kExponentBias) << kMantissaBits);
}

// Splits x = mantissa * 2^exponent with a mantissa in [1/sqrt 2, sqrt 2), which is returned. x must
// be positive and normal.
double Split(double x, int64_t* exponent) {
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  *exponent = static_cast<int64_t>(bits >> kMantissaBits) - kExponentBias;
  const double mantissa =
      std::bit_cast<double>((bits & kMantissaMask) | (uint64_t{kExponentBias} << kMantissaBits));
  if (mantissa < kSqrt2) return mantissa;
  ++*exponent;
  return mantissa / 2;
}

}  // namespace

double PortableLog(double x) {
  if (x == 0) return -kInfinity;
  if (!(x > 0)) return kNaN;
  if (x == kInfinity) return x;
  int64_t shift = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    shift = -54;
  }
  int64_t exponent;
  const double f = Split(x, &exponent) - 1;
  const double k = static_cast<double>(exponent + shift);
  // log(1+f) = 2 atanh(s) = 2s + 2s(z/3 + z^2/5 + ...) with s = f / (2+f), z = s^2
  // <= 0.0295. The first omitted term is z^12/25, below 2^-65.
  const double s = f / (2 + f);
  const double z = s * s;
  double series = 0;
  for (double term : kAtanh) series = z * (term + series);
  // 2s = f - s*f without the rounding of s in the leading term.
  return k * kLn2High + (f - (s * f - (2 * s * series + k * kLn2Low)));
}

double PortableExp(double x) {
  if (x != x) return x;
  if (x > 709.79) return kInfinity;
  if (x < -745.14) return 0;
  // x = k ln 2 + r with |r| <= 0.35.
  const auto k = static_cast<int64_t>(x * kInverseLn2 + (x < 0 ? -0.5 : 0.5));
  const double r = (x - static_cast<double>(k) * kLn2High) - static_cast<double>(k) * kLn2Low;
  // exp(r) = 1 + r + r (r/2! + r^2/3! + ...). The first omitted term, r^15/15!, is below 2^-62.
  double series = 0;
  for (double term : kExponential) series = r * (term + series);
  const double value = 1 + (r + r * series);
  // The scaling takes two steps, because 2^k itself may not be a normal number.
  const int64_t half = k / 2;
  return value * PowerOfTwo(half) * PowerOfTwo(k - half);
}

double PortablePow(double base, double exponent) {
  if (exponent == 0) return 1;
  return PortableExp(exponent * PortableLog(base));
}

}  // namespace grapevine
