// The rules of asynchronous SGD with parameter servers (ASGD; Dean et al. 2012, Lian et al. 2015,
// arXiv:1506.08272): a worker gives its gradient, at the weights that it had last, and a server
// steps along it, x' = x - lr u(g). DynSGD (Jiang et al. 2017) divides the update by one more than
// its staleness: the learning rate, so that batch-norm statistics stay averages.
//
// Thread-safety: as their owners'.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNCHRONOUS_SGD_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNCHRONOUS_SGD_H_

#include <cstdint>
#include <utility>

#include "algorithm/algorithm.h"
#include "algorithm/server/async_server.h"
#include "algorithm/server/async_worker.h"

namespace grapevine {

// Keeps no state of the optimizer, and two replicas: weights and gradient, or what answers it.
class GradientPusher final : public WorkerRule {
 public:
  static constexpr int64_t kVectors = 2;

  void Start(Vec model, Host& host) override { weights_ = model; }
  Vec model() const override { return weights_; }
  void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) override;
  Vec Push(Host& host) override;
  void OnAnswer(Vec answer, Host& host) override;

 private:
  Vec weights_;
  Vec gradient_;
};

// The learning rate is that of the nominal round: a schedule means the same part of the run as of
// any other algorithm, however fast a worker is.
class SteppingServer final : public ServerRule {
 public:
  // `adaptive`: DynSGD.
  SteppingServer(LearningRate learning_rate, bool adaptive)
      : learning_rate_(std::move(learning_rate)), adaptive_(adaptive) {}

  void Start(ReplicaRange range, Host& host) override;
  Moved Apply(const Update& update, Vec weights, Host& host) override;

 private:
  const LearningRate learning_rate_;
  const bool adaptive_;
  ReplicaRange range_;
  Vec state_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNCHRONOUS_SGD_H_
