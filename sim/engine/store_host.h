// The requests of a Host that only concern vectors, over a store.
#ifndef GRAPEVINE_SIM_ENGINE_STORE_HOST_H_
#define GRAPEVINE_SIM_ENGINE_STORE_HOST_H_

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/host.h"
#include "sim/engine/vector_store.h"

namespace grapevine {

// Thread-compatible. Drivers of n nodes on one thread derive from it.
class StoreHost : public Host {
 protected:
  // `store` outlives this.
  explicit StoreHost(VectorStore* store) : store_(store) {}

  VectorStore& store() const { return *store_; }
  // Requests cannot fail to their caller: the first error since the last call, after the event.
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

#endif  // GRAPEVINE_SIM_ENGINE_STORE_HOST_H_
