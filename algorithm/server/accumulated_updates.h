// The rules of DOWNPOUR (Dean et al. 2012) and ADAG (Hermans, Spanakis and Möckel 2017,
// arXiv:1710.02368): a worker takes several steps of its own, gives the servers their sum, and goes
// on with the weights. A server adds the sum (DOWNPOUR), or the sum divided by the window (ADAG).
//
// Of batch-norm statistics, which must stay averages, a worker gives those that it has, and a
// server's move towards them, by one part in as many as there are workers.
//
// Thread-safety: as their owners'.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ACCUMULATED_UPDATES_H_
#define GRAPEVINE_ALGORITHM_SERVER_ACCUMULATED_UPDATES_H_

#include <cstdint>
#include <utility>

#include "algorithm/local/own_step.h"
#include "algorithm/server/async_server.h"
#include "algorithm/server/async_worker.h"

namespace grapevine {

class WindowPusher final : public WorkerRule {
 public:
  // Beside the optimizer's state: the weights, its own model, and the gradient.
  static constexpr int64_t kVectors = 3;

  explicit WindowPusher(LearningRate learning_rate) : step_(std::move(learning_rate)) {}

  void Start(Vec model, Host& host) override;
  Vec model() const override { return model_; }
  void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) override;
  Vec Push(Host& host) override;
  void OnAnswer(Vec answer, Host& host) override;

 private:
  OwnStep step_;
  Vec weights_;  // the servers', as they were
  Vec model_;    // the same vector before the first step
};

class AddingServer final : public ServerRule {
 public:
  // Adds that part of an update; `workers` give them.
  AddingServer(double part, Rank workers) : part_(part), workers_(workers) {}

  void Start(ReplicaRange range, Host& host) override;
  Moved Apply(const Update& update, Vec weights, Host& host) override;

 private:
  const double part_;
  const Rank workers_;
  int64_t size_ = 0;
  int64_t parameters_ = 0;  // of these; buffers follow them
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ACCUMULATED_UPDATES_H_
