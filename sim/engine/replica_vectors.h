// Vectors with elements: virtual nodes that really train.
#ifndef GRAPEVINE_SIM_ENGINE_REPLICA_VECTORS_H_
#define GRAPEVINE_SIM_ENGINE_REPLICA_VECTORS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "base/gradient.h"
#include "kernels/vector/replica_layout.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_table.h"
#include "model/problem/objective.h"
#include "optim/optimizer.h"
#include "sim/engine/vector_store.h"

namespace grapevine {

// Thread-compatible.
class ReplicaVectors final : public VectorStore {
 public:
  struct Parts {
    const ReplicaLayout* layout;  // must outlive this
    const Optimizer* optimizer;   // must outlive this
    // Writes the initial replica.
    std::function<absl::Status(float* replica)> initialize;
    std::vector<std::unique_ptr<Objective>> objectives;  // one per worker: the ranks from 0 on
  };
  explicit ReplicaVectors(Parts parts);

  int64_t replica_size() const override { return parts_.layout->size; }
  ReplicaRange parameters() const override { return {0, parts_.layout->parameter_size}; }
  int step_vectors() const override { return parts_.optimizer->step_vectors(); }
  absl::StatusOr<Vec> InitialReplica(ReplicaRange range) override;
  Vec New(int64_t size, const char* role) override { return table_.New(size, role); }
  Vec NewOptimizerState(ReplicaRange range) override;
  void Drop(Vec vector) override { table_.Drop(vector); }
  void Combine(Part out, std::span<const Term> terms) override { table_.Combine(out, terms); }
  void Clip(Part part, double limit) override { table_.Clip(part, limit); }
  void Step(const StepRequest& request) override;
  void BeginGradient(Rank rank, Vec at, Vec into, Round round) override;
  absl::StatusOr<double> EndGradient(Rank rank) override;
  GradientNoise Noise(Rank rank) const override { return parts_.objectives[rank]->noise(); }
  std::span<const TensorNorms> Norms(Rank rank) const override {
    return parts_.objectives[rank]->norms();
  }
  double ReadyAt(int64_t from, int64_t round) const override {
    return parts_.objectives[0]->ReadyAt(from, round);
  }
  void Hold(MessageId message, const Payload& payload) override;
  double Deliver(MessageId message, const Payload& into) override;
  void Release(MessageId message) override { held_[message] = {}; }
  SharedVector At(Vec vector) const override { return table_.At(vector); }

 private:
  struct PendingGradient {
    SharedVector at;
    Vec into;
    Round round = 0;
  };
  // What a message carries: a vector or a part of one. It is not written before the message has
  // left.
  struct HeldPart {
    SharedSlice slice;
    bool whole = false;
    double squared_norm = 0;
  };
  // Returns the sum of the squares of the elements that a message is to carry.
  double SquaredNormOf(const SharedSlice& slice) const;
  void DeliverPart(const HeldPart& held, const Part& into);

  const Parts parts_;
  VectorTable table_;
  SharedVector initial_;  // drawn once, copied for every node
  std::vector<PendingGradient> gradients_;
  std::vector<HeldPart> held_;
  MessageId last_held_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_REPLICA_VECTORS_H_
