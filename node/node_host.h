// The host of an algorithm in a real node: CPU memory, a gradient thread, and a
// transport to the peers.
#ifndef GRAPEVINE_NODE_NODE_HOST_H_
#define GRAPEVINE_NODE_NODE_HOST_H_

#include <chrono>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "algorithm/host.h"
#include "kernels/replica_layout.h"
#include "kernels/vector_table.h"
#include "node/gradient_gate.h"
#include "node/gradient_worker.h"
#include "node/trace_recorder.h"
#include "node/transport.h"
#include "optim/optimizer.h"

namespace grapevine {

// Thread-compatible: the runner's thread. What it points to outlives it.
class NodeHost final : public Host {
 public:
  // What its passes over vectors took so far.
  struct Arithmetic {
    double seconds = 0;
    int64_t bytes = 0;  // read and written (kernels/memory_traffic.h)
  };

  struct Parts {
    const ReplicaLayout* layout;
    const Optimizer* optimizer;
    Transport* transport;
    GradientWorker* gradients;  // null where the algorithm asks for none
    // Writes the starting replica.
    std::function<absl::Status(float* replica)> initialize;
    std::function<void(Round completed, const SharedVector& model)> at_boundary;
    std::function<void(const SharedVector& model)> at_rest;
    TraceRecorder* trace = nullptr;  // may be null
  };
  explicit NodeHost(Parts parts);

  int64_t replica_size() const override { return parts_.layout->size; }
  Vec InitialReplica(ReplicaRange range) override;
  Vec New(int64_t size) override { return vectors_.New(size); }
  Vec NewOptimizerState(ReplicaRange range) override;
  void Drop(Vec vector) override { vectors_.Drop(vector); }
  void Gradient(Vec at, Vec into, Round round, std::span<const int64_t> cuts) override;
  void Combine(Part out, std::span<const Term> terms) override;
  void Step(ReplicaRange range, Vec out, std::span<const Term> mix, Vec own, Vec gradient,
            Vec state, const StepParams& params) override;
  void Send(Rank to, Tag tag, Part part) override;
  void Post(Rank from, Tag tag, Part into) override;
  void Boundary(Round completed, Vec model) override;
  void Rest(Vec model) override;

  // Begins the gradient that was asked for, if there is one and it may begin now.
  // To be called after every event; `model_held` while one is kept for its evaluation.
  void StartGradient(bool model_held);
  bool holds_gradient_back() const { return gate_.holds_back(); }
  // A message of the algorithm has left.
  void OnSent(Tag tag) { gate_.OnSent(tag.round); }

  // The first error of a request; requests cannot fail to their caller.
  const absl::Status& status() const { return status_; }
  const Arithmetic& arithmetic() const { return arithmetic_; }

 private:
  // Counts a pass that began at `begin` and ends now.
  void CountPass(std::chrono::steady_clock::time_point begin, int64_t bytes);
  // Empty where the algorithm gives no model.
  SharedVector Model(Vec model) const;

  Parts parts_;
  VectorTable vectors_;
  GradientGate gate_;
  absl::Status status_;
  Arithmetic arithmetic_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_NODE_HOST_H_
