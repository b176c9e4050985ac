// The vectors of virtual nodes: with elements (replica_vectors.h), or with sizes only
// (PhantomVectors).
//
// A driver charges the time of every request itself; a store only does the arithmetic, and the
// phantom has none to do. StoreHost is the part of a driver's Host that is about vectors only.
//
// Thread-compatible.
#ifndef GRAPEVINE_SIM_ENGINE_VECTOR_STORE_H_
#define GRAPEVINE_SIM_ENGINE_VECTOR_STORE_H_

#include <cstdint>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/host.h"
#include "base/gradient.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "kernels/vector/vector_handle.h"
#include "model/network/backward_cost.h"

namespace grapevine {

// The slot of a message: a small number, reused.
using MessageId = uint32_t;

// The vectors of all nodes live in one store.
class VectorStore {
 public:
  virtual ~VectorStore() = default;

  // See algorithm/host.h. A phantom has no buffers.
  virtual int64_t replica_size() const = 0;
  virtual ReplicaRange parameters() const = 0;
  // Returns how many vectors a step reads and writes besides those of the mix
  // (Optimizer::step_vectors).
  virtual int step_vectors() const = 0;

  // See algorithm/host.h.
  virtual absl::StatusOr<Vec> InitialReplica(ReplicaRange range) = 0;
  virtual Vec New(int64_t size, const char* role) = 0;
  virtual Vec NewOptimizerState(ReplicaRange range) = 0;
  virtual void Drop(Vec vector) = 0;
  virtual void Combine(Part out, std::span<const Term> terms) = 0;
  virtual void Clip(Part part, double limit) = 0;
  virtual void Step(const StepRequest& request) = 0;

  // Begin and end the gradient of `rank`. EndGradient follows when the simulated time of the
  // gradient's first part has passed; it returns the batch's loss (0 for a phantom).
  virtual void BeginGradient(Rank rank, Vec at, Vec into, Round round) = 0;
  virtual absl::StatusOr<double> EndGradient(Rank rank) = 0;
  // Returns the noise of the rank's last gradient, if measured.
  virtual GradientNoise Noise(Rank rank) const { return {}; }
  // Returns the norms of the rank's last gradient by tensor, if measured. They are valid until its
  // next gradient begins.
  virtual std::span<const TensorNorms> Norms(Rank rank) const { return {}; }
  // Returns the fraction of the time of a round's gradient after which the elements from `from` on
  // are final.
  virtual double ReadyAt(int64_t from, Round round) const = 0;

  // Keeps what a message sends until it is delivered, released or its sender reuses it.
  virtual void Hold(MessageId message, const Payload& payload) = 0;
  // Writes what a message sends to `into`. Returns the sum of the squares of its elements
  // (algorithm/receiving.h); 0 for a phantom.
  virtual double Deliver(MessageId message, const Payload& into) = 0;
  virtual void Release(MessageId message) = 0;

  // Returns the elements of a vector; empty for a phantom.
  virtual SharedVector At(Vec vector) const = 0;
};

// Vectors without elements: timing only, at no cost in memory.
class PhantomVectors final : public VectorStore {
 public:
  // If `passes` is null, every round has one pass.
  PhantomVectors(int64_t replica_size, int step_vectors, PassesOf passes = nullptr)
      : replica_size_(replica_size), step_vectors_(step_vectors), passes_(std::move(passes)) {}

  int64_t replica_size() const override { return replica_size_; }
  ReplicaRange parameters() const override { return {0, replica_size_}; }
  int step_vectors() const override { return step_vectors_; }
  // No request looks behind a handle, so one handle serves for all vectors.
  absl::StatusOr<Vec> InitialReplica(ReplicaRange range) override { return kVector; }
  Vec New(int64_t size, const char* role) override { return kVector; }
  Vec NewOptimizerState(ReplicaRange range) override { return kVector; }
  void Drop(Vec vector) override {}
  void Combine(Part out, std::span<const Term> terms) override {}
  void Clip(Part part, double limit) override {}
  void Step(const StepRequest& request) override {}
  void BeginGradient(Rank rank, Vec at, Vec into, Round round) override {}
  absl::StatusOr<double> EndGradient(Rank rank) override { return 0.0; }
  double ReadyAt(int64_t from, Round round) const override {
    return ReadyInTheLastPass(EvenlyReadyAt(from, replica_size_),
                              passes_ ? passes_(round).count : 1);
  }
  void Hold(MessageId message, const Payload& payload) override {}
  double Deliver(MessageId message, const Payload& into) override { return 0; }
  void Release(MessageId message) override {}
  SharedVector At(Vec vector) const override { return {}; }

 private:
  static constexpr Vec kVector{1};

  const int64_t replica_size_;
  const int step_vectors_;
  const PassesOf passes_;
};

// The requests of a Host that only concern vectors, implemented by a store. Drivers of n nodes on
// one thread derive from it.
class StoreHost : public Host {
 protected:
  // `store` must outlive this.
  explicit StoreHost(VectorStore* store) : store_(store) {}

  VectorStore& store() const { return *store_; }
  // Returns the first error since the last call. Called after each event, as requests cannot return
  // errors to their caller.
  absl::Status TakeStatus() { return std::exchange(status_, absl::OkStatus()); }
  void Fail(const absl::Status& why) { status_.Update(why); }

  int64_t replica_size() const override { return store_->replica_size(); }
  ReplicaRange parameters() const override { return store_->parameters(); }
  Vec InitialReplica(ReplicaRange range) override {
    const absl::StatusOr<Vec> replica = store_->InitialReplica(range);
    if (replica.ok()) return *replica;
    Fail(replica.status());
    return store_->New(range.size, "the starting replica");
  }
  int64_t SizeOf(Vec vector) const override { return store_->At(vector).size; }
  Vec New(int64_t size, const char* role) override { return store_->New(size, role); }
  Vec NewOptimizerState(ReplicaRange range) override { return store_->NewOptimizerState(range); }
  void Drop(Vec vector) override { store_->Drop(vector); }

 private:
  VectorStore* const store_;
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_VECTOR_STORE_H_
