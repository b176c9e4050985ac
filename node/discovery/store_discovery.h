// Rank 0 says in a store where it is, for as long as it lives; the others read it there.
//
// Functions are pure, StoreDiscovery is thread-safe.
#ifndef GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_STORE_DISCOVERY_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "node/discovery/discovery.h"
#include "node/identity/authentication.h"
#include "node/identity/host_address.h"
#include "node/store/store.h"
#include "system/mutex.h"

namespace grapevine {

// What rank 0 says of itself in a store. Whoever can write there can forge it, but for its proof of
// the run's token.
struct CoordinatorAnnouncement {
  static constexpr size_t kMostAddresses = 16;

  std::string run_id;
  std::vector<HostAddress> addresses;  // at any of which rank 0 may be reached
  int64_t since = 0;                   // seconds of Unix time
};

std::string EncodeAnnouncement(const CoordinatorAnnouncement& announcement, const RunToken& token);

// InvalidArgument says what is wrong with it, phrased to follow "what is there ".
absl::StatusOr<CoordinatorAnnouncement> DecodeAnnouncement(std::string_view bytes,
                                                           const RunToken& token);

// Where rank 0 may be reached that advertises this: there, or without a host under each of
// `own_names` (system/machine_names.h), loopback only where there is nothing else.
std::vector<HostAddress> AnnouncedAddresses(const HostAddress& advertised,
                                            const std::vector<std::string>& own_names);

// "10.0.0.1:41234, node1:41234 (since 2026-11-23 16:20:00 UTC)".
std::string AnnouncementText(const CoordinatorAnnouncement& announcement);

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
