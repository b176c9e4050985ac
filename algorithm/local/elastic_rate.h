// How strongly replicas and the centre of elastic averaging pull at each other (Zhang, Choromanska
// and LeCun 2015, arXiv:1412.6651): alpha is rho times the learning rate, but at most 1 / n, beyond
// which the centre would overshoot the mean of n replicas; without rho it is 0.9 / n.
//
// A value.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_ELASTIC_RATE_H_
#define GRAPEVINE_ALGORITHM_LOCAL_ELASTIC_RATE_H_

#include <optional>

#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

class ElasticRate {
 public:
  ElasticRate(Rank replicas, std::optional<double> rho) : replicas_(replicas), rho_(rho) {}
  // Reads "rho=R" of a spec.
  static std::optional<double> ReadRho(SpecReader& reader);

  double Alpha(double learning_rate) const;
  Rank replicas() const { return replicas_; }

 private:
  Rank replicas_;
  std::optional<double> rho_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_ELASTIC_RATE_H_
