// The rules of asynchronous EASGD (Zhang, Choromanska and LeCun 2015, arXiv:1412.6651, algorithm
// 1): workers and a centre, which the servers keep, pull at each other. A worker takes several
// steps of its own and gives its replica x; a server answers with E = alpha (x - c), by which its
// centre moves towards x, and the worker's replica moves back:
//   c <- c + E,   x <- x - E.
// Both moves are of the same vector: without gradients, the sum of all replicas and the centre
// stays. With alpha at most 1 all are convex averages, so that batch-norm statistics take part.
//
// Thread-safety: as their owners'.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ELASTIC_AVERAGING_H_
#define GRAPEVINE_ALGORITHM_SERVER_ELASTIC_AVERAGING_H_

#include <cstdint>
#include <utility>

#include "algorithm/local/own_step.h"
#include "algorithm/server/async_server.h"
#include "algorithm/server/async_worker.h"

namespace grapevine {

class ElasticReplica final : public WorkerRule {
 public:
  // Beside the optimizer's state: the replica, and the gradient or what moves the replica.
  static constexpr int64_t kVectors = 2;

  explicit ElasticReplica(LearningRate learning_rate) : step_(std::move(learning_rate)) {}

  void Start(Vec model, Host& host) override;
  Vec model() const override { return replica_; }
  void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) override;
  Vec Push(Host& host) override { return replica_; }
  void OnAnswer(Vec answer, Host& host) override;

 private:
  OwnStep step_;
  Vec replica_;
};

class ElasticServer final : public ServerRule {
 public:
  // As long as its range: the centre and where it moves to, an update that comes, and two answers,
  // one of which may have been an update.
  static constexpr int64_t kVectors = 5;

  // Alpha by nominal round.
  explicit ElasticServer(LearningRate alpha) : alpha_(std::move(alpha)) {}

  void Start(ReplicaRange range, Host& host) override { size_ = range.size; }
  Moved Apply(const Update& update, Vec weights, Host& host) override;

 private:
  const LearningRate alpha_;
  int64_t size_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ELASTIC_AVERAGING_H_
