// The thread that evaluates averaged models on rank 0 while training goes on.
#ifndef GRAPEVINE_NODE_RUNNER_EVALUATION_THREAD_H_
#define GRAPEVINE_NODE_RUNNER_EVALUATION_THREAD_H_

#include <deque>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "model/problem/averaged_model.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe.
class EvaluationThread {
 public:
  // The thread calls `evaluate` for one model at a time, in order, and then `done` once the model's
  // memory is released. Drain returns the first error; `failed` is called with it at once.
  EvaluationThread(std::function<absl::Status(const AveragedModel&)> evaluate,
                   std::function<void()> done, std::function<void(const absl::Status&)> failed);
  // Drops the models that have not been evaluated yet.
  ~EvaluationThread();

  // Hands over a model. Blocks while kMaxWaiting models wait: a run cannot outrun its evaluations.
  void Submit(AveragedModel model);

  // Blocks until all submitted models are evaluated, or one has failed.
  absl::Status Drain();

  static constexpr size_t kMaxWaiting = 1;

 private:
  void Loop();

  const std::function<absl::Status(const AveragedModel&)> evaluate_;
  const std::function<void()> done_;
  const std::function<void(const absl::Status&)> failed_;

  Mutex mutex_;
  Condition changed_;
  std::deque<AveragedModel> waiting_ ABSL_GUARDED_BY(mutex_);
  bool busy_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_EVALUATION_THREAD_H_
