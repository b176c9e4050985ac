// Rank 0 says in a store where it is, for as long as it lives; the others read it there.
#ifndef GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "node/discovery/coordinator_probe.h"
#include "node/discovery/discovery.h"
#include "node/identity/run_token.h"
#include "node/store/held_key.h"
#include "node/store/store.h"
#include "system/mutex.h"

namespace grapevine {

struct StoreDiscoveryOptions {
  std::string key;
  // A rank 0 that died is found for as long at most, and keeps the next one out.
  std::chrono::milliseconds time_to_live{10000};
  RunToken token;
  CoordinatorProbe probe;
  std::vector<std::string> own_names;  // of this machine
};

// What a run before has left is never used: it goes with its lease, and until then nobody answers
// at its addresses by its run's id.
class StoreDiscovery final : public Discovery {
 public:
  StoreDiscovery(std::shared_ptr<Store> store, StoreDiscoveryOptions options);

  const std::string& place() const override { return place_; }
  absl::Status Announce(const ListeningCoordinator& own, Deadline deadline,
                        const Interrupted& interrupted) override;
  void Withdraw() override;
  absl::StatusOr<FoundCoordinator> Find(Deadline deadline, const Interrupted& interrupted) override;

 private:
  absl::Status AlreadyThere(const StoredValue& holder) const;
  // Asks at the addresses that were announced.
  absl::StatusOr<FoundCoordinator> Ask(const StoredValue& announced, Deadline deadline) const;
  absl::StatusOr<FoundCoordinator> Look(StoreRevision* seen, Deadline deadline) const;

  const std::shared_ptr<Store> store_;
  const StoreDiscoveryOptions options_;
  const std::string place_;

  Mutex mutex_;
  std::unique_ptr<HeldKey> held_ ABSL_GUARDED_BY(mutex_);  // on rank 0
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_
