#include "algorithm/local/elastic_centre.h"

#include "algorithm/local/replica_copy.h"

namespace grapevine {

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
