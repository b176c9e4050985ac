// Runs a NetworkGraph on one device: the CPU or a GPU.
//
// Keeps one plan for gradients, one for statistics and one for evaluations, each for the batch
// size last seen (evaluation: the largest, smaller batches fit in). Replicas and gradients are
// in device memory, except in Initialize, which writes host memory; batches are in host memory.
// Every call waits for its result. What GradientInParts reports as final is so in the order of
// the device's stream: on a GPU, for work queued after the report or waiting for an event
// recorded then.
#ifndef GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_
#define GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/tensor/tensor_device.h"
#include "model/network/execution_plan.h"
#include "model/network/network.h"
#include "model/network/network_graph.h"

namespace grapevine {

struct NetworkOptions {
  float label_smoothing = 0;  // in training only; Evaluate reports the plain loss
  bool record_steps = true;   // where the device can, and steps come again: RecordedSteps
};

class GraphNetwork : public Network {
 public:
  GraphNetwork(NetworkGraph graph, std::unique_ptr<TensorDevice> device,
               const NetworkOptions& options);

  const std::string& name() const override { return graph_.name; }
  const ReplicaLayout& layout() const override { return graph_.layout; }
  ImageShape input() const override { return graph_.input; }
  int64_t classes() const override { return graph_.classes(); }

  void Initialize(uint64_t seed, float* replica) const override;
  // Errors of all that follow: a batch that does not fit the network; errors of the device's
  // libraries.
  absl::Status PrepareGradient(int64_t batch_size) override;
  absl::StatusOr<double> Gradient(const float* replica, const Batch& batch,
                                  float* gradient) override;
  absl::StatusOr<double> GradientInParts(
      const float* replica, const Batch& batch, float* gradient,
      const std::function<void(int64_t from)>& final_from) override;
  double ReadyAt(int64_t from) const override { return progress_.ReadyAt(from); }
  absl::Status Statistics(const float* replica, const Batch& batch, float* statistics) override;
  absl::StatusOr<EvaluationSums> Evaluate(const float* replica, const Batch& batch) override;

 private:
  absl::Status CheckBatch(const Batch& batch) const;
  absl::Status Prepare(std::unique_ptr<ExecutionPlan>* plan, int64_t batch_size, Pass pass);
  void BeginBatch(const ExecutionPlan& plan, const Batch& batch);
  // Queues forward, loss and backward of the batch begun last.
  void QueueGradient(const float* replica, float* gradient,
                     const std::function<void(int64_t from)>& final_from);

  const NetworkGraph graph_;  // fused
  const BackwardProgress progress_;
  const std::unique_ptr<TensorDevice> device_;  // before its layers
  const NetworkOptions options_;
  std::unique_ptr<ExecutionPlan> training_;
  RecordedSteps recorded_;  // of training_, but for gradients that are final in parts
  std::unique_ptr<ExecutionPlan> statistics_;
  std::unique_ptr<ExecutionPlan> evaluation_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_NETWORK_GRAPH_NETWORK_H_
