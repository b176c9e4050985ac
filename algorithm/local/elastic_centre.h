// Elastic averaging (EASGD; Zhang, Choromanska and LeCun 2015, arXiv:1412.6651): the nodes'
// replicas and a centre pull at each other.
//
// Thread-safety: that of its owner.
#ifndef GRAPEVINE_ALGORITHM_LOCAL_ELASTIC_CENTRE_H_
#define GRAPEVINE_ALGORITHM_LOCAL_ELASTIC_CENTRE_H_

#include <optional>

#include "algorithm/local/outer_step.h"
#include "base/ids.h"
#include "base/spec.h"

namespace grapevine {

// The strength alpha of the pull: rho times the learning rate, but at most 1 / n, beyond which the
// centre would overshoot the mean of n replicas; without rho, 0.9 / n. A value.
class ElasticRate {
 public:
  ElasticRate(Rank replicas, std::optional<double> rho) : replicas_(replicas), rho_(rho) {}
  // Reads "rho=R" of a spec; none if the spec has no rho.
  static std::optional<double> ReadRho(SpecReader& reader);

  // Returns the same rate for another number of replicas.
  ElasticRate Of(Rank replicas) const { return {replicas, rho_}; }
  double Alpha(double learning_rate) const;
  Rank replicas() const { return replicas_; }

 private:
  Rank replicas_;
  std::optional<double> rho_;
};

// The centre, as an outer step of synchronous EASGD (eqs. 5 and 6):
//   x_i <- x_i - lr u_i - alpha (x_i - c)
//   c   <- (1 - n alpha) c + n alpha mean_i x_i
// Both updates read the old values. Every node keeps the centre, the same bits on all of them. With
// n alpha at most 1 both are convex averages, so that batch-norm statistics take part.
class ElasticCentre final : public OuterStep {
 public:
  static constexpr int kVectors = 1;  // the number of vectors that it keeps

  explicit ElasticCentre(ElasticRate rate) : rate_(rate) {}

  // Begins with the centre at `replica`.
  void Start(Vec replica, Host& host) override;
  void VisitState(StateVisitor& state, Host& host) override { state.Vector("centre", centre_); }
  void Among(Rank replicas) override { rate_ = rate_.Of(replicas); }
  // Returns (1 - alpha) x + alpha c.
  Averaging::Terms Replace(Vec replica, const Averaging::Terms& average, double learning_rate,
                           Host& host) override;
  // Moves the centre towards the average of the replicas that were pulled.
  void End(const Averaging::Terms& average, double learning_rate, Host& host) override;

 private:
  ElasticRate rate_;
  Vec centre_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_LOCAL_ELASTIC_CENTRE_H_
