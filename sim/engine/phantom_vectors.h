// Vectors without numbers: timing alone, at no cost of memory.
#ifndef GRAPEVINE_SIM_ENGINE_PHANTOM_VECTORS_H_
#define GRAPEVINE_SIM_ENGINE_PHANTOM_VECTORS_H_

#include <cstdint>
#include <span>

#include "model/network/backward_cost.h"
#include "sim/engine/vector_store.h"

namespace grapevine {

// Thread-compatible.
class PhantomVectors final : public VectorStore {
 public:
  PhantomVectors(int64_t replica_size, int optimizer_vectors)
      : replica_size_(replica_size), optimizer_vectors_(optimizer_vectors) {}

  int64_t replica_size() const override { return replica_size_; }
  int optimizer_vectors() const override { return optimizer_vectors_; }
  // No request looks behind a handle: one does for all.
  absl::StatusOr<Vec> InitialReplica(ReplicaRange range) override { return kVector; }
  Vec New(int64_t size, const char* role) override { return kVector; }
  Vec NewOptimizerState(ReplicaRange range) override { return kVector; }
  void Drop(Vec vector) override {}
  void Combine(Part out, std::span<const Term> terms) override {}
  void Step(const StepRequest& request) override {}
  void BeginGradient(Rank rank, Vec at, Vec into, Round round) override {}
  absl::StatusOr<double> EndGradient(Rank rank) override { return 0.0; }
  double ReadyAt(int64_t from) const override { return EvenlyReadyAt(from, replica_size_); }
  void Hold(MessageId message, const Payload& payload) override {}
  void Deliver(MessageId message, const Payload& into) override {}
  SharedVector At(Vec vector) const override { return {}; }

 private:
  static constexpr Vec kVector{1};

  const int64_t replica_size_;
  const int optimizer_vectors_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_PHANTOM_VECTORS_H_
