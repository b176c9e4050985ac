#include "algorithm/server/elastic_averaging.h"

namespace grapevine {

void ElasticReplica::Start(Vec model, Host& host) {
  replica_ = model;
  step_.Start(host);
}

void ElasticReplica::OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) {
  const Vec stepped = step_.Take(replica_, gradient, step, nominal_round, host);
  host.Drop(std::exchange(replica_, stepped));
}

void ElasticReplica::OnAnswer(Vec answer, Host& host) {
  const Part moved{answer, 0, host.replica_size()};
  const Term terms[] = {{1.0, {replica_, 0, host.replica_size()}}, {-1.0, moved}};
  host.Combine(moved, terms);
  host.Drop(std::exchange(replica_, answer));
}

ServerRule::Moved ElasticServer::Apply(const Update& update, Vec weights, Host& host) {
  const Part centre{weights, 0, size_};
  const Part pull{update.vector, 0, size_};
  const double alpha = alpha_(update.nominal_round);
  const Term difference[] = {{alpha, pull}, {-alpha, centre}};
  host.Combine(pull, difference);
  const Vec moved = host.New(size_, "the moved centre");
  const Term sum[] = {{1.0, centre}, {1.0, pull}};
  host.Combine({moved, 0, size_}, sum);
  host.Drop(weights);
  return {.weights = moved, .answer = update.vector};
}

}  // namespace grapevine
