#include "algorithm/local/elastic_centre.h"

#include <algorithm>
#include <limits>

#include "algorithm/local/averaging.h"

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

void ElasticCentre::Start(Vec replica, Host& host) {
  centre_ = CopyOf(replica, "the elastic centre", host);
}

Averaging::Terms ElasticCentre::Replace(Vec replica, const Averaging::Terms&, double learning_rate,
                                        Host& host) {
  const double alpha = rate_.Alpha(learning_rate);
  return {{1 - alpha, host.Whole(replica)}, {alpha, host.Whole(centre_)}};
}

void ElasticCentre::End(const Averaging::Terms& average, double learning_rate, Host& host) {
  const double share = rate_.replicas() * rate_.Alpha(learning_rate);
  const Part centre = host.Whole(centre_);
  Averaging::Terms sum = {{1 - share, centre}};
  for (const Term& term : average) sum.push_back({share * term.weight, term.part});
  host.Combine(centre, sum);
}

}  // namespace grapevine
