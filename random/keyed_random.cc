#include "random/keyed_random.h"

#include <cmath>

#include "random/portable_math.h"

namespace grapevine {
KeyedRandom::KeyedRandom(uint64_t seed, Purpose purpose, uint64_t a, uint64_t b)
    : key_(MixKey(seed, purpose, a, b)) {}

uint64_t KeyedRandom::Next() { return MixAt(key_, counter_++); }

uint64_t KeyedRandom::Below(uint64_t n) {
  unsigned __int128 product = static_cast<unsigned __int128>(Next()) * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t threshold = -n % n;
    while (static_cast<uint64_t>(product) < threshold) {
      product = static_cast<unsigned __int128>(Next()) * n;
    }
  }
  return static_cast<uint64_t>(product >> 64);
}

double KeyedRandom::Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

double KeyedRandom::Normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double u, v, s;
  do {
    u = 2 * Unit() - 1;
    v = 2 * Unit() - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  const double scale = std::sqrt(-2 * PortableLog(s) / s);
  spare_ = v * scale;
  has_spare_ = true;
  return u * scale;
}

double KeyedRandom::Gamma(double shape) {
  if (shape < 1) {
    // Boost: Gamma(a) = Gamma(a + 1) * U^(1/a).
    const double u = 1 - Unit();
    return Gamma(shape + 1) * PortablePow(u, 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = Normal();
    const double t = 1 + c * x;
    if (t <= 0) continue;
    const double v = t * t * t;
    const double u = 1 - Unit();
    if (PortableLog(u) < 0.5 * x * x + d - d * v + d * PortableLog(v)) return d * v;
  }
}

}  // namespace grapevine
