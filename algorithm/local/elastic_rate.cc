#include "algorithm/local/elastic_rate.h"

#include <algorithm>
#include <limits>

namespace grapevine {

std::optional<double> ElasticRate::ReadRho(SpecReader& reader) {
  constexpr double kNone = -1;
  const double rho = reader.Real("rho", kNone, 0, std::numeric_limits<float>::max());
  return rho == kNone ? std::nullopt : std::optional(rho);
}

double ElasticRate::Alpha(double learning_rate) const {
  constexpr double kUsual = 0.9;  // n alpha in the paper
  return rho_ ? std::min(*rho_ * learning_rate, 1.0 / replicas_) : kUsual / replicas_;
}

}  // namespace grapevine
