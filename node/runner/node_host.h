// The host of an algorithm in a real node: the memory of its data path, a gradient
// thread, and a transport to the peers.
#ifndef GRAPEVINE_NODE_RUNNER_NODE_HOST_H_
#define GRAPEVINE_NODE_RUNNER_NODE_HOST_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "algorithm/host.h"
#include "algorithm/round_bytes.h"
#include "kernels/passes/sketch.h"
#include "kernels/vector/replica_layout.h"
#include "node/runner/data_path.h"
#include "node/runner/gradient_computer.h"
#include "node/runner/gradient_gate.h"
#include "node/runner/trace_recorder.h"
#include "node/transport/transport.h"
#include "optim/optimizer.h"

namespace grapevine {

// Thread-compatible: the runner's thread. What it points to outlives it.
class NodeHost final : public Host {
 public:
  // What its passes over vectors took so far: those that are over.
  struct Arithmetic {
    double seconds = 0;
    int64_t bytes = 0;  // read and written (kernels/vector/memory_traffic.h)
  };

  struct Parts {
    const ReplicaLayout* layout;
    const Optimizer* optimizer;
    Transport* transport;
    GradientComputer* gradients;  // null where the algorithm asks for none
    DataPath* data_path;
    // Whether a model is kept for its evaluation.
    std::function<bool()> model_held;
    // Writes the starting replica.
    std::function<absl::Status(float* replica)> initialize;
    std::function<void(Round completed, Vec model)> at_boundary;
    std::function<void(Vec model)> at_rest;
    TraceRecorder* trace = nullptr;  // may be null
  };
  explicit NodeHost(Parts parts);

  int64_t replica_size() const override { return parts_.layout->size; }
  Vec InitialReplica(ReplicaRange range) override;
  Vec New(int64_t size, const char* role) override { return vectors().New(size, role); }
  Vec NewOptimizerState(ReplicaRange range) override;
  void Drop(Vec vector) override { parts_.data_path->Drop(vector); }
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override;
  void Combine(Part out, std::span<const Term> terms) override;
  void Step(const StepRequest& request) override;
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note) override;
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit) override;
  void Boundary(Round completed, Vec model) override { parts_.at_boundary(completed, model); }
  void Rest(Vec model) override { parts_.at_rest(model); }

  // Begins the gradient that was asked for, if there is one that could not begin at once
  // and may now. To be called after every event.
  void StartGradient();
  // Between the end of a gradient and EndGradient: where it is not finite, or the replica
  // that it was taken at: "conv1.weight of its replica"; empty where both are.
  std::string WhereNotFinite();
  // Lets go of both.
  void EndGradient();
  // Whether a gradient is under way.
  bool computes() const { return gradient_at_.data != nullptr; }
  // For whom a gradient waits that may not begin yet.
  std::set<Rank> HoldsGradientBackFor() const { return gate_.WaitingFor(); }
  // A message of the algorithm has arrived.
  void OnReceived(Rank from, Tag tag) { parts_.data_path->Received(from, tag); }
  // One has left: which.
  SendId OnSent(Rank to, Tag tag);

  // A pass is over: the data path's OnPass.
  void CountPass(std::chrono::steady_clock::time_point begin,
                 std::chrono::steady_clock::time_point end, int64_t bytes);

  // The first error of a request; requests cannot fail to their caller.
  absl::Status status() const;
  const Arithmetic& arithmetic() const { return arithmetic_; }

  // Payload of the algorithm's messages of the rounds that are over, at a boundary.
  int64_t bytes_sent() const { return bytes_sent_; }
  int64_t BytesReceived(Round completed) { return bytes_received_.Before(completed); }

 private:
  VectorTable& vectors() const { return parts_.data_path->vectors(); }

  Parts parts_;
  GradientGate gate_;
  SharedVector gradient_at_;  // of the gradient under way
  SharedVector gradient_;
  absl::Status status_;
  Arithmetic arithmetic_;
  SendId last_send_;
  std::map<std::pair<Rank, Tag>, SendId> sending_;  // to whom, what has not left
  int64_t bytes_sent_ = 0;
  RoundBytes bytes_received_;  // counted as they are posted for
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_NODE_HOST_H_
