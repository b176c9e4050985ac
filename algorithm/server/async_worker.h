// An asynchronous worker: it computes gradients, gives its servers an update after every few of
// them, and goes on with what they answer, whatever the other workers do.
//
// It has one exchange under way, and computes nothing meanwhile. At its limit (RoundLimit) it gives
// what it has, though these may be fewer gradients: nothing is lost when the run ends there. What
// an update is, and what becomes of the answer, is a rule's matter (WorkerRule).
//
// Thread-safety: one event at a time.
#ifndef GRAPEVINE_ALGORITHM_SERVER_ASYNC_WORKER_H_
#define GRAPEVINE_ALGORITHM_SERVER_ASYNC_WORKER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/algorithm.h"
#include "algorithm/event.h"
#include "algorithm/server/push.h"
#include "algorithm/server/shard_layout.h"

namespace grapevine {

// What a worker does between two exchanges.
class WorkerRule {
 public:
  virtual ~WorkerRule() = default;

  // Takes the model to begin with.
  virtual void Start(Vec model, Host& host) = 0;
  // At which gradients are computed.
  virtual Vec model() const = 0;
  // Takes the gradient at the model: the worker's `step`, which counts from 0. `nominal_round` is
  // where the run is (Update).
  virtual void OnGradient(Vec gradient, Round step, Round nominal_round, Host& host) = 0;
  // What to give the servers; not written until they have answered. Called after a gradient; none
  // follows before the answer.
  virtual Vec Push(Host& host) = 0;
  // Takes the servers' answer, after a push or without one.
  virtual void OnAnswer(Vec answer, Host& host) = 0;
};

struct AsyncWorkerOptions {
  // Gradients from one exchange to the next.
  int64_t window = 1;
  // Whether servers must know who is at its limit (Ask::kLastPush).
  bool tells_limit = false;
};

class AsyncWorker final : public Algorithm {
 public:
  AsyncWorker(ShardLayout shards, Rank rank, AsyncWorkerOptions options,
              std::unique_ptr<WorkerRule> rule);

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return steps_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round, Round) const override { return shards_.ServerRanks(); }

 private:
  struct Exchange {
    Ask ask;
    Vec answer;              // the buffer
    std::set<Rank> missing;  // servers whose answer is on its way
  };

  absl::Status OnGradient(const GradientReady& event, Host& host);
  absl::Status OnReceived(const Received& event, Host& host);
  absl::Status OnSent(const Sent& event);

  // Begins what is next, if nothing is under way.
  void Advance(Host& host);
  void BeginExchange(Ask ask, Host& host);
  void PostAnswers(Host& host);
  void EndExchange(Host& host);
  void EndStep(Host& host);
  Round NominalRound() const;

  const ShardLayout shards_;
  const Rank rank_;
  const AsyncWorkerOptions options_;
  const std::unique_ptr<WorkerRule> rule_;

  Vec gradient_;  // while it is computed
  Round steps_ = 0;
  Round limit_ = 0;
  bool started_ = false;
  bool must_pull_ = false;         // before the next step
  int64_t local_ = 0;              // gradients since the last exchange
  int64_t applied_ = 0;            // gradients of all workers, as far as it has heard
  std::vector<int64_t> versions_;  // of the weights that it has, by server
  int64_t exchanges_ = 0;          // begun
  std::optional<Exchange> exchange_;
  std::map<SendId, Waiting> unsent_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_SERVER_ASYNC_WORKER_H_
